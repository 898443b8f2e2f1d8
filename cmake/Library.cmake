# The library, in two parts: `core`, and `image`, which reads image files and alone needs libpng and libjpeg. Each is compiled once, position
# independent, and becomes a static and a shared library: samesum_core_static, samesum_core_shared, samesum_image_static, samesum_image_shared.
# `samesum` is both parts, of the kind that BUILD_SHARED_LIBS names; so are samesum::samesum, samesum::core and samesum::image.
file(GLOB SAMESUM_IMAGE_SOURCES CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} src/io/image/*.cpp)
file(GLOB_RECURSE SAMESUM_CORE_SOURCES CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} src/*.cpp)
list(REMOVE_ITEM SAMESUM_CORE_SOURCES ${SAMESUM_IMAGE_SOURCES})

# {fmt} is part of the library (src/core/fmt.cpp): its headers alone are needed, and by nobody who links samesum. Of another major version
# than the one that this file is for its own way to the same, which compiles longer.
if(fmt_VERSION VERSION_GREATER_EQUAL 10)
  set(fmt_headers fmt::fmt-header-only)
else()
  add_library(samesum_fmt INTERFACE)
  target_include_directories(samesum_fmt SYSTEM INTERFACE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
  set(fmt_headers samesum_fmt)
endif()

# Code that waits for drivers, files and compilers, or reads formulas, whatever it does itself: -O1 takes two thirds of
# the time of -O3, and -Og 0.9 of that. Loops over data on the CPU are elsewhere.
set(SAMESUM_COLD_SOURCES ${SAMESUM_CORE_SOURCES})
list(FILTER SAMESUM_COLD_SOURCES INCLUDE REGEX
     "^src/(barrier|c|device|ladder|nccl|plan|selftest|tuning|warm)/|^src/formula/[^/]*$|/device/[^/]*$|_(device|plan)\\.cpp$")
list(FILTER SAMESUM_COLD_SOURCES EXCLUDE REGEX "^src/ladder/ceiling/")  # whose loops are timed
list(REMOVE_ITEM SAMESUM_CORE_SOURCES ${SAMESUM_COLD_SOURCES})

# samesum_unity(SOURCES…): files of one subject, a folder of src/, are compiled together, up to 14 at a time, as what they include takes
# most of their time. Some folders below a subject's have names of their own for the same things: their files are compiled apart from the others.
# Those that Highway compiles for several instruction sets take long by themselves, and two of them cannot share one compilation.
function(samesum_unity)
  foreach(source IN LISTS ARGN)
    file(STRINGS ${source} simd REGEX "HWY_TARGET_INCLUDE" LIMIT_COUNT 1)
    if(simd)
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    else()
      get_filename_component(group ${source} DIRECTORY)
      string(REGEX REPLACE "^src/" "" group ${group})
      if(NOT group MATCHES "^(formula/operator|groups/(by|index)|histogram/nd|ladder/(histogram|pairs|reduce))")
        string(REGEX REPLACE "/.*" "" group ${group})
        string(REGEX REPLACE "^(barrier|nccl|selftest|tuning|warm)$" few group ${group})
      endif()
      string(MAKE_C_IDENTIFIER ${group} group)
      math(EXPR number "${${group}_files} + 0")
      math(EXPR ${group}_files "${number} + 1")
      math(EXPR number "${number} / 14")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group}_${number})
    endif()
  endforeach()
endfunction()
set_source_files_properties(src/core/fmt.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)  # which is {fmt} itself
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")  # the file says why
  set_source_files_properties(src/core/threads/parallel.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON
                              COMPILE_OPTIONS -fno-sanitize=thread COMPILE_DEFINITIONS SAMESUM_WATCHED_THREADS)
endif()
samesum_unity(${SAMESUM_CORE_SOURCES})
samesum_unity(${SAMESUM_COLD_SOURCES})
samesum_unity(${SAMESUM_IMAGE_SOURCES})
# The kernels' texts are compiled alone, each time that one of them changes.
set(kernel_files ${CMAKE_CURRENT_BINARY_DIR}/kernel_files.cpp)
set_source_files_properties(${kernel_files} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
list(APPEND SAMESUM_CORE_SOURCES ${kernel_files})

if(BUILD_SHARED_LIBS)
  set(samesum_kind shared)
else()
  set(samesum_kind static)
endif()

# samesum_objects(TARGET SOURCES… LINKS… OPTIONS…)
function(samesum_objects target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINKS;OPTIONS")
  add_library(${target} OBJECT ${arg_SOURCES})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON UNITY_BUILD ${SAMESUM_UNITY} UNITY_BUILD_MODE GROUP)
  target_include_directories(${target} PRIVATE include src ${HWY_INCLUDE_DIR} ${FAST_FLOAT_INCLUDE_DIR} ${TIFF_INCLUDE_DIRS} ${ZSTD_INCLUDE_DIR})
  # Nobody puts functions of his own in place of ours: they may be inlined. Functions have sections of their own, so that linkers leave out
  # those that are not used, though they were compiled with others that are.
  target_compile_options(${target} PRIVATE -fno-semantic-interposition -ffunction-sections -fdata-sections ${arg_OPTIONS})
  target_link_libraries(${target} PRIVATE samesum_options ${fmt_headers} nlohmann_json::nlohmann_json ${arg_LINKS})
  if(target STREQUAL samesum_core_objects)
    samesum_precompile(${target} <fmt/format.h> <fmt/ranges.h>)
  else()  # whatever their level of optimisation
    target_precompile_headers(${target} REUSE_FROM samesum_core_objects)
  endif()
endfunction()

# samesum_part(NAME FILE_NAME SOURCES… COLD… LINKS…): what a part links, whoever takes its static library links too.
function(samesum_part part output)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SOURCES;COLD;LINKS")
  samesum_objects(samesum_${part}_objects SOURCES ${arg_SOURCES} LINKS ${arg_LINKS})
  set(objects $<TARGET_OBJECTS:samesum_${part}_objects>)
  if(arg_COLD)
    samesum_objects(samesum_${part}_cold_objects SOURCES ${arg_COLD} LINKS ${arg_LINKS} OPTIONS $<$<CONFIG:Release>:-Og>)
    list(APPEND objects $<TARGET_OBJECTS:samesum_${part}_cold_objects>)
  endif()

  set(folder ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR})  # as installed: run paths are the same
  foreach(kind IN ITEMS static shared)
    set(library samesum_${part}_${kind})
    string(TOUPPER ${kind} type)
    add_library(${library} ${type} ${objects})
    target_compile_features(${library} PUBLIC cxx_std_20)
    target_include_directories(${library} PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>)
    if(NOT PROJECT_IS_TOP_LEVEL)  # whose own warnings are not for these
      set_target_properties(${library} PROPERTIES INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${CMAKE_CURRENT_SOURCE_DIR}/include)
    endif()
    if(part STREQUAL image)
      target_link_libraries(${library} PUBLIC samesum_core_${kind})
    endif()
    target_link_libraries(${library} PRIVATE ${arg_LINKS})
    # Until 1.0 each minor version may change the binary interface; the soname is that of all of 0.
    set_target_properties(${library} PROPERTIES OUTPUT_NAME ${output} EXPORT_NAME ${part} LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
                                                SOVERSION ${PROJECT_VERSION_MAJOR} LIBRARY_OUTPUT_DIRECTORY ${folder})
  endforeach()
  set(map ${CMAKE_CURRENT_SOURCE_DIR}/cmake/exports.map)
  target_link_options(${library} PRIVATE -Wl,--version-script=${map} -Wl,--gc-sections)
  if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")  # whose functions are in the program
    target_link_options(${library} PRIVATE -Wl,--no-undefined)
  endif()
  set_property(TARGET ${library} APPEND PROPERTY LINK_DEPENDS ${map})
  add_library(samesum::${part} ALIAS samesum_${part}_${samesum_kind})
endfunction()

samesum_part(core samesum SOURCES ${SAMESUM_CORE_SOURCES} COLD ${SAMESUM_COLD_SOURCES} LINKS TBB::tbb Threads::Threads ZLIB::ZLIB zstd ${CMAKE_DL_LIBS})
samesum_part(image samesum_image SOURCES ${SAMESUM_IMAGE_SOURCES} LINKS PNG::PNG JPEG::JPEG ${CMAKE_DL_LIBS})
# What reading images takes of the core's inside, which the core's shared library hides, comes from the static one, and stays hidden.
target_link_libraries(samesum_image_shared PRIVATE $<TARGET_FILE:samesum_core_static>)
target_link_options(samesum_image_shared PRIVATE -Wl,--exclude-libs,libsamesum.a)
add_dependencies(samesum_image_shared samesum_core_static)
set_target_properties(samesum_image_shared PROPERTIES INSTALL_RPATH $ORIGIN BUILD_WITH_INSTALL_RPATH ON)

add_library(samesum INTERFACE)
target_link_libraries(samesum INTERFACE samesum::image samesum::core)
add_library(samesum::samesum ALIAS samesum)
