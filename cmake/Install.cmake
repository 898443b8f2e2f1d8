# cmake --install: the program, the library, its headers, and what CMake's find_package(samesum) and pkg-config need of it. The folder may be
# moved afterwards.
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/samesum)

install(TARGETS samesum_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS samesum EXPORT samesumTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/samesum DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

install(EXPORT samesumTargets NAMESPACE samesum:: DESTINATION ${package_folder})
configure_package_config_file(cmake/samesumConfig.cmake.in samesumConfig.cmake INSTALL_DESTINATION ${package_folder})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(samesumConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/samesumConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/samesumConfigVersion.cmake
        DESTINATION ${package_folder})

file(RELATIVE_PATH to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/samesum.pc.in samesum.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/samesum.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
