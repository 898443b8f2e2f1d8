# What `make test` leaves to `make test-all`, and with it to .ci/run, so that the first has an answer within ten minutes on two cores.

# Cases that go through dozens of kernels, which OpenCL on a CPU compiles for one to two seconds each, of suites in which other cases have less of
# everything: entries of their own, SUITE_longer.
function(samesum_longer suite)
  if(NOT TEST ${suite})
    return()
  endif()
  list(JOIN ARGN ":" cases)
  get_property(environment TEST ${suite} PROPERTY ENVIRONMENT)
  samesum_add_test(${suite}_longer ${${suite}_command})
  string(REPLACE "/results/${suite}.xml" "/results/${suite}_longer.xml" environment "${environment}")
  set_property(TEST ${suite}_longer PROPERTY ENVIRONMENT "${environment}" GTEST_FILTER=${cases})
  set_property(TEST ${suite} APPEND PROPERTY ENVIRONMENT GTEST_FILTER=-${cases})
endfunction()

# Types whose kernels differ from those of another type by the size or the sign of an element.
set(similar_types */float16* */int8* */int16* */uint16* */uint32* */int64*)

samesum_longer(axes AxesTest.LayoutsAndSizes AxesTest.ManyResultsThatNeedAnotherWay ${similar_types})
samesum_longer(axes_operator AxesOperatorTest.ReductionsOfFormulas AxesOperatorTest.ProductsHaveTheBits* AxesOperatorTest.FormulasInFront)
samesum_longer(axes_plan AxesPlan.HasTheBitsOfMeans)
samesum_longer(axes_reductions AxesReductionsOfRows.OfNumbersThatAreHardToRound All/AxesReductions.OfHardCases/float64 All/AxesReductions.OfHardCases/uint8)
samesum_longer(barrier BarrierLadder.EveryMethodIsRight)
samesum_longer(bench Bench.test_pairs Bench.test_pairs_by_formula Bench.test_indices_of_pairs_of_ugly_numbers Bench.test_a_limit_on_registers
                     Kernel.test_launch_and_ptx)
samesum_longer(by_index SumsByIndexOnDevices.OfIntegers SumsByIndexOnDevices.WeightedHistograms SumsByIndexOnDevices.ManySegments)
samesum_longer(collect_plan Types/PlansOf.FindWhatOneCallFinds/bfloat16 Types/PlansOf.FindWhatOneCallFinds/float64)
samesum_longer(docs Commands.test_those_of_help Commands.test_those_of_the_pages)
samesum_longer(extremes_plan Types/Arrays.*/bfloat16 ${similar_types})
samesum_longer(formula_layouts FormulaLayouts.OfMapsAndTheirReductions)
samesum_longer(histogram_matrix HistogramOfHotValues.NarrowCountersAreRight ${similar_types})
samesum_longer(install Installed.test_find_package_with_images)
samesum_longer(ladders Ladders.test_any_operation_and_type Ladders.test_own_kernels_shown Ladders.test_bins_of_ones_choice)
samesum_longer(layouts ${similar_types})
samesum_longer(map_source MapSource.EveryReductionOfAFormula)
samesum_longer(mpi_3 MpiTest.RanksOnDifferentDevices)
samesum_longer(mpi_languages Languages.test_fortran_with_open_mpi)
samesum_longer(nvrtc Nvrtc.CompilesAFewKernelsOfEachFile)
samesum_longer(operator_plan OperatorPlan.OfIntegersHasTheBitsOfReduce)
samesum_longer(pairs Each/PairsOnKernels.AreRight/gaussian_* Each/PairsOnKernels.AreRight/invdist_*)
samesum_longer(pairs_formula PairsFormula.NamedFunctionsWrittenAsFormulas)
samesum_longer(pairs_smallest PairsSmallest.ValuesAndIndicesWithTies)
samesum_longer(pairs_tree PairsTree.Vectors PairsTree.LogSumExpWithinItsBound)
samesum_longer(pairs_types PairsTypes.IntegersOfEveryType PairsTypes.HalvesHaveTheBitsOfFloat32)
samesum_longer(record_plan FormulaPlans.HaveTheBitsOfCollect)
samesum_longer(scan ScanTest.TilesOnDevices Floats/ScanOfType.*/float64 Floats/ScanOfType.*/bfloat16 ${similar_types})
samesum_longer(statistics ${similar_types})
samesum_longer(sum Types/IntegerSum.*/uint8 Chunks.OfAnArrayAreTheWhole ${similar_types})
samesum_longer(tiles Tiles.HistogramsAreThoseOfEachTileAlone)

# Whole suites: what runs again on poorer devices, on queues of a caller or for longer; what goes through hundreds of kernels whose patterns are
# tested elsewhere, too; all emulated shapes of kernels but one of each kind; numpy's own tests of what the Python package replaces;
# compilations, reports and searches that take long by themselves.
get_property(slow DIRECTORY PROPERTY TESTS)
list(FILTER slow INCLUDE REGEX "_(crippled|own_queue|longer)$")
list(APPEND slow build_shapes shapes array_layouts cancellation terms float_modes tuning_space huge_sum nvrtc_generations pairs_named mpi_64
     bench_sources barrier_model headers_alone kernel_syntax report tune warm python_numpy_suite)
foreach(name IN LISTS slow)
  if(TEST ${name})
    set_tests_properties(${name} PROPERTIES LABELS slow)
  endif()
endforeach()
if(TEST barrier_longer)
  set_tests_properties(barrier_longer PROPERTIES RUN_SERIAL TRUE TIMEOUT 600)
endif()
