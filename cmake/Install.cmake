# cmake --install: the program, the library, its headers, and a file for pkg-config that works wherever the folder is moved.
install(TARGETS samesum_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS samesum ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/samesum DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

file(RELATIVE_PATH to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/samesum.pc.in samesum.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/samesum.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
