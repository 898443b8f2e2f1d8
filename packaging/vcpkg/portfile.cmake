# An overlay port of this checkout: vcpkg install samesum --overlay-ports=packaging/vcpkg
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS -DSAMESUM_TESTS=OFF -DSAMESUM_MPI=OFF -DSAMESUM_PYTHON_MODULE=OFF)
vcpkg_cmake_build(TARGET samesum_shipped)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/samesum)
vcpkg_fixup_pkgconfig()
vcpkg_copy_tools(TOOL_NAMES samesum AUTO_CLEAN)
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
