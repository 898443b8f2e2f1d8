# cmake --install: the program, both parts of the library (Library.cmake) as static and as shared ones, the headers, and what CMake's
# find_package(samesum) and pkg-config need of them. The folder may be moved afterwards.
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/samesum)

if(BUILD_SHARED_LIBS)
  # The same where it is built: a path that is replaced is filled up with empty ones, which mean the current folder.
  file(RELATIVE_PATH to_libraries /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
  set_target_properties(samesum_program PROPERTIES INSTALL_RPATH $ORIGIN/${to_libraries} BUILD_WITH_INSTALL_RPATH ON)
endif()
install(TARGETS samesum_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/samesum DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
foreach(part IN ITEMS core image)
  foreach(kind IN ITEMS static shared)
    set(name samesum_${part}_${kind})
    install(TARGETS ${name} EXPORT ${name} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
            INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
    install(EXPORT ${name} NAMESPACE samesum:: DESTINATION ${package_folder})
  endforeach()
endforeach()

# Where tools/write-kernels.sh has made them.
install(FILES ${PROJECT_BINARY_DIR}/cuda-kernels DESTINATION ${CMAKE_INSTALL_DATADIR}/samesum OPTIONAL)

configure_package_config_file(cmake/samesumConfig.cmake.in samesumConfig.cmake INSTALL_DESTINATION ${package_folder})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(samesumConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/samesumConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/samesumConfigVersion.cmake
        DESTINATION ${package_folder})

file(RELATIVE_PATH to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
foreach(name IN ITEMS samesum samesum_image)
  configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
