# embed_kernels(OUTPUT ROOT FILE…): a C++ source that holds each FILE (relative to ROOT) as text, for device/kernels/program.hpp's kernel_file().
# It is written again only when a kernel file changes.
function(embed_kernels output root)
  set(dependencies)
  foreach(file IN LISTS ARGN)
    list(APPEND dependencies ${root}/${file})
  endforeach()
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DROOT=${root} "-DFILES=${ARGN}" -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/EmbedKernelsRun.cmake
    DEPENDS ${dependencies} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/EmbedKernelsRun.cmake
    COMMENT "Embedding kernel files" VERBATIM)
endfunction()
