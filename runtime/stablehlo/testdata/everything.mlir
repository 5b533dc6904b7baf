module @every_thing attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x5x4xf32>, %arg2: tensor<2x2xi32>, %arg3: tensor<2xui64>, %arg4: tensor<1x3x8x8xf32>, %arg5: tensor<4x3x3x3xf32>, %arg6: tensor<i32>, %arg7: tensor<3x3xf32> {tf.aliasing_output = 1 : i32}, %arg8: tensor<8xcomplex<f32>>) -> (tensor<2x3x5xf32>, tensor<3x3xf32>, tensor<1x4x4x4xf32>, tensor<1x3x4x4xf32>, tensor<1x3x8x8xf32>, tensor<3xf32>, tensor<2x4xf32>, tensor<2x4xi64>, tensor<2xi32>, tensor<2xi32>, tensor<3x2x2xf32>, tensor<2x2xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<2x8x4xf32>, tensor<3x5x3xf32>, tensor<2x3x4xf32>, tensor<1x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<i32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<2xui64>, tensor<6xui32>, tensor<6xf32>, tensor<6x4xui8>, tensor<6xi32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<8xcomplex<f32>>, tensor<5xcomplex<f32>>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<2x3x4xf32>, tensor<2x2xi32>, tensor<2x2xf32>, tensor<2xbf16>, tensor<0x3xf32>, tensor<2xi64>, tensor<2xui64>, tensor<2xcomplex<f32>>, tensor<2x3x4xf32>, tensor<2x3x4xf8E4M3FN>, tensor<2x2xf8E8M0FNU>, tensor<2xf8E8M0FNU>, tensor<2x3x4xf4E2M1FN>, tensor<2x3x4xi1>, tensor<4x2x3xf32>, tensor<6x4xf32>, tensor<2x3x3xf32>, tensor<2x3x2xf32>) {
    %0 = "stablehlo.dot_general"(%arg0, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]}> : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32> loc("cell1/op1/dot_general"("cell_1.go":3:7))
    %1 = "stablehlo.dot_general"(%arg7, %arg7) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    %2 = "stablehlo.convolution"(%arg4, %arg5) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<[[1, 1], [1, 1]]> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 2, 2>}> : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x4x4xf32>
    %3 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %4 = "stablehlo.reduce_window"(%arg4, %3) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<[[0, 0], [0, 0], [0, 0], [0, 0]]> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>}> ({
    ^bb0(%a5: tensor<f32>, %a6: tensor<f32>):
      %7 = "stablehlo.maximum"(%a5, %a6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%7) : (tensor<f32>) -> ()
    }) : (tensor<1x3x8x8xf32>, tensor<f32>) -> tensor<1x3x4x4xf32>
    %8 = "stablehlo.constant"() <{value = dense<0.0e+00> : tensor<f32>}> : () -> tensor<f32>
    %9 = "stablehlo.select_and_scatter"(%arg4, %4, %8) <{padding = dense<[[0, 0], [0, 0], [0, 0], [0, 0]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>}> ({
    ^bb0(%a10: tensor<f32>, %a11: tensor<f32>):
      %12 = "stablehlo.compare"(%a10, %a11) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%12) : (tensor<i1>) -> ()
    }, {
    ^bb0(%a13: tensor<f32>, %a14: tensor<f32>):
      %15 = "stablehlo.add"(%a13, %a14) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%15) : (tensor<f32>) -> ()
    }) : (tensor<1x3x8x8xf32>, tensor<1x3x4x4xf32>, tensor<f32>) -> tensor<1x3x8x8xf32>
    %16 = "stablehlo.constant"() <{value = dense<0.0e+00> : tensor<f32>}> : () -> tensor<f32>
    %17 = "stablehlo.reduce"(%arg0, %16) <{dimensions = array<i64: 0, 2>}> ({
    ^bb0(%a18: tensor<f32>, %a19: tensor<f32>):
      %20 = "stablehlo.add"(%a18, %a19) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%20) : (tensor<f32>) -> ()
    }) : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<3xf32>
    %21 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %22 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %23 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<2x3x4xi64>
    %24:2 = "stablehlo.reduce"(%arg0, %23, %21, %22) <{dimensions = array<i64: 1>}> ({
    ^bb0(%a25: tensor<f32>, %a26: tensor<i64>, %a27: tensor<f32>, %a28: tensor<i64>):
      %29 = "stablehlo.compare"(%a25, %a27) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %30 = "stablehlo.compare"(%a25, %a25) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %31 = "stablehlo.or"(%29, %30) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %32 = "stablehlo.compare"(%a25, %a27) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %33 = "stablehlo.compare"(%a26, %a28) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %34 = "stablehlo.and"(%32, %33) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %35 = "stablehlo.compare"(%a25, %a25) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %36 = "stablehlo.compare"(%a27, %a27) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %37 = "stablehlo.and"(%35, %36) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %38 = "stablehlo.compare"(%a26, %a28) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %39 = "stablehlo.and"(%37, %38) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %40 = "stablehlo.not"(%39) : (tensor<i1>) -> tensor<i1>
      %41 = "stablehlo.and"(%31, %40) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %42 = "stablehlo.or"(%41, %34) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %43 = "stablehlo.select"(%41, %a25, %a27) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %44 = "stablehlo.select"(%42, %a26, %a28) : (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>
      "stablehlo.return"(%43, %44) : (tensor<f32>, tensor<i64>) -> ()
    }) : (tensor<2x3x4xf32>, tensor<2x3x4xi64>, tensor<f32>, tensor<i64>) -> (tensor<2x4xf32>, tensor<2x4xi64>)
    %45 = "stablehlo.constant"() <{value = dense<2147483647> : tensor<i32>}> : () -> tensor<i32>
    %46 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %47 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<2x2xi32>
    %48:2 = "stablehlo.reduce"(%arg2, %47, %45, %46) <{dimensions = array<i64: 1>}> ({
    ^bb0(%a49: tensor<i32>, %a50: tensor<i32>, %a51: tensor<i32>, %a52: tensor<i32>):
      %53 = "stablehlo.compare"(%a49, %a51) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %54 = "stablehlo.compare"(%a49, %a51) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %55 = "stablehlo.compare"(%a50, %a52) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %56 = "stablehlo.and"(%54, %55) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %57 = "stablehlo.or"(%53, %56) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %58 = "stablehlo.select"(%53, %a49, %a51) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      %59 = "stablehlo.select"(%57, %a50, %a52) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%58, %59) : (tensor<i32>, tensor<i32>) -> ()
    }) : (tensor<2x2xi32>, tensor<2x2xi32>, tensor<i32>, tensor<i32>) -> (tensor<2xi32>, tensor<2xi32>)
    %60 = "stablehlo.gather"(%arg7, %arg2) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 3, 1>}> : (tensor<3x3xf32>, tensor<2x2xi32>) -> tensor<3x2x2xf32>
    %61 = "stablehlo.concatenate"(%arg2, %arg2) <{dimension = 0 : i64}> : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<4x2xi32>
    %62 = "stablehlo.slice"(%61) <{limit_indices = array<i64: 2, 2>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<4x2xi32>) -> tensor<2x2xi32>
    %63 = "stablehlo.slice"(%arg7) <{limit_indices = array<i64: 3, 2>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<3x3xf32>) -> tensor<3x2xf32>
    %64 = "stablehlo.gather"(%63, %62) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], operand_batching_dims = [1], start_indices_batching_dims = [1], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<3x2xf32>, tensor<2x2xi32>) -> tensor<2x2xf32>
    %65 = "stablehlo.constant"() <{value = dense<1.0e+00> : tensor<2x2xf32>}> : () -> tensor<2x2xf32>
    %66 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<2x2xi32>
    %67 = "stablehlo.reshape"(%66) : (tensor<2x2xi32>) -> tensor<2x2x1xi32>
    %68 = "stablehlo.reshape"(%arg2) : (tensor<2x2xi32>) -> tensor<2x2x1xi32>
    %69 = "stablehlo.concatenate"(%67, %68) <{dimension = 2 : i64}> : (tensor<2x2x1xi32>, tensor<2x2x1xi32>) -> tensor<2x2x2xi32>
    %70 = "stablehlo.scatter"(%arg7, %69, %65) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%a71: tensor<f32>, %a72: tensor<f32>):
      %73 = "stablehlo.add"(%a71, %a72) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%73) : (tensor<f32>) -> ()
    }) : (tensor<3x3xf32>, tensor<2x2x2xi32>, tensor<2x2xf32>) -> tensor<3x3xf32>
    %74 = "stablehlo.constant"() <{value = dense<2.0e+00> : tensor<2x2xf32>}> : () -> tensor<2x2xf32>
    %75 = "stablehlo.reshape"(%arg2) : (tensor<2x2xi32>) -> tensor<2x2x1xi32>
    %76 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<2x2xi32>
    %77 = "stablehlo.reshape"(%76) : (tensor<2x2xi32>) -> tensor<2x2x1xi32>
    %78 = "stablehlo.concatenate"(%75, %77) <{dimension = 2 : i64}> : (tensor<2x2x1xi32>, tensor<2x2x1xi32>) -> tensor<2x2x2xi32>
    %79 = "stablehlo.scatter"(%arg7, %78, %74) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%a80: tensor<f32>, %a81: tensor<f32>):
      "stablehlo.return"(%a81) : (tensor<f32>) -> ()
    }) : (tensor<3x3xf32>, tensor<2x2x2xi32>, tensor<2x2xf32>) -> tensor<3x3xf32>
    %82 = "stablehlo.concatenate"(%arg0, %arg1) <{dimension = 1 : i64}> : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x8x4xf32>
    %83 = "stablehlo.constant"() <{value = dense<0.0e+00> : tensor<f32>}> : () -> tensor<f32>
    %84 = "stablehlo.pad"(%arg0, %83) <{edge_padding_high = array<i64: 0, 0, 0>, edge_padding_low = array<i64: 1, 0, -1>, interior_padding = array<i64: 0, 1, 0>}> : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<3x5x3xf32>
    %85 = "stablehlo.reverse"(%arg0) <{dimensions = array<i64: 0, 2>}> : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    %86 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %87 = "stablehlo.dynamic_slice"(%arg0, %arg6, %86, %86) <{slice_sizes = array<i64: 1, 3, 4>}> : (tensor<2x3x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x4xf32>
    %88 = "stablehlo.constant"() <{value = dense<7.0e+00> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
    %89 = "stablehlo.dynamic_update_slice"(%arg0, %88, %arg6, %86, %86) : (tensor<2x3x4xf32>, tensor<1x1x1xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x3x4xf32>
    %90 = "stablehlo.iota"() <{iota_dimension = 2 : i64}> : () -> tensor<2x3x4xi32>
    %91:2 = "stablehlo.sort"(%arg0, %90) <{dimension = 2 : i64, is_stable = true}> ({
    ^bb0(%a92: tensor<f32>, %a93: tensor<f32>, %a94: tensor<i32>, %a95: tensor<i32>):
      %96 = "stablehlo.constant"() <{value = dense<0.0e+00> : tensor<f32>}> : () -> tensor<f32>
      %97 = "stablehlo.compare"(%a92, %96) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %98 = "stablehlo.select"(%97, %96, %a92) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %99 = "stablehlo.compare"(%98, %98) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %100 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
      %101 = "stablehlo.select"(%99, %100, %98) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %102 = "stablehlo.constant"() <{value = dense<0.0e+00> : tensor<f32>}> : () -> tensor<f32>
      %103 = "stablehlo.compare"(%a93, %102) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %104 = "stablehlo.select"(%103, %102, %a93) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %105 = "stablehlo.compare"(%104, %104) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %106 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
      %107 = "stablehlo.select"(%105, %106, %104) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %108 = "stablehlo.compare"(%101, %107) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%108) : (tensor<i1>) -> ()
    }) : (tensor<2x3x4xf32>, tensor<2x3x4xi32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xi32>)
    %109 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<2x2xi32>
    %110:2 = "stablehlo.sort"(%arg2, %109) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a111: tensor<i32>, %a112: tensor<i32>, %a113: tensor<i32>, %a114: tensor<i32>):
      %115 = "stablehlo.compare"(%a111, %a112) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%115) : (tensor<i1>) -> ()
    }) : (tensor<2x2xi32>, tensor<2x2xi32>) -> (tensor<2x2xi32>, tensor<2x2xi32>)
    %116:2 = "stablehlo.while"(%86, %arg7) ({
    ^bb0(%a117: tensor<i32>, %a118: tensor<3x3xf32>):
      %119 = "stablehlo.compare"(%a117, %arg6) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%119) : (tensor<i1>) -> ()
    }, {
    ^bb0(%a120: tensor<i32>, %a121: tensor<3x3xf32>):
      %122 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %123 = "stablehlo.add"(%a120, %122) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %124 = "stablehlo.add"(%a121, %a121) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
      "stablehlo.return"(%123, %124) : (tensor<i32>, tensor<3x3xf32>) -> ()
    }) : (tensor<i32>, tensor<3x3xf32>) -> (tensor<i32>, tensor<3x3xf32>)
    %125 = "stablehlo.compare"(%arg6, %86) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %126 = "stablehlo.if"(%125) ({
      %127 = "stablehlo.negate"(%arg7) : (tensor<3x3xf32>) -> tensor<3x3xf32>
      "stablehlo.return"(%127) : (tensor<3x3xf32>) -> ()
    }, {
      "stablehlo.return"(%arg7) : (tensor<3x3xf32>) -> ()
    }) : (tensor<i1>) -> tensor<3x3xf32>
    %128:2 = "stablehlo.rng_bit_generator"(%arg3) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<6xui32>)
    %129 = "stablehlo.bitcast_convert"(%128#1) : (tensor<6xui32>) -> tensor<6xf32>
    %130 = "stablehlo.bitcast_convert"(%128#1) : (tensor<6xui32>) -> tensor<6x4xui8>
    %131 = "stablehlo.bitcast_convert"(%128#1) : (tensor<6xui32>) -> tensor<6x4xui8>
    %132 = "stablehlo.bitcast_convert"(%131) : (tensor<6x4xui8>) -> tensor<6xi32>
    %133 = "stablehlo.constant"() <{value = dense<0.0e+00> : tensor<f32>}> : () -> tensor<f32>
    %134 = "stablehlo.constant"() <{value = dense<1.0e+00> : tensor<f32>}> : () -> tensor<f32>
    %135 = "stablehlo.clamp"(%133, %arg0, %134) : (tensor<f32>, tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
    %136 = "stablehlo.reduce_precision"(%arg0) <{exponent_bits = 8 : i32, mantissa_bits = 7 : i32}> : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    %137 = "chlo.erf"(%arg0) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    %138 = "stablehlo.fft"(%arg8) <{fft_length = array<i64: 8>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
    %139 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<8xf32>
    %140 = "stablehlo.fft"(%139) <{fft_length = array<i64: 8>, fft_type = #stablehlo<fft_type RFFT>}> : (tensor<8xf32>) -> tensor<5xcomplex<f32>>
    %141 = "stablehlo.cholesky"(%arg7) <{lower = true}> : (tensor<3x3xf32>) -> tensor<3x3xf32>
    %142 = "stablehlo.triangular_solve"(%141, %arg7) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    %143:2 = "stablehlo.optimization_barrier"(%arg0, %arg2) : (tensor<2x3x4xf32>, tensor<2x2xi32>) -> (tensor<2x3x4xf32>, tensor<2x2xi32>)
    %144 = "stablehlo.constant"() <{value = dense<[[1.0e+00, -2.5e+00], [0x7FC00000, 0xFF800000]]> : tensor<2x2xf32>}> : () -> tensor<2x2xf32>
    %145 = "stablehlo.constant"() <{value = dense<[1.1015625e+00, 3.0040553e+38]> : tensor<2xbf16>}> : () -> tensor<2xbf16>
    %146 = "stablehlo.constant"() <{value = dense<> : tensor<0x3xf32>}> : () -> tensor<0x3xf32>
    %147 = "stablehlo.constant"() <{value = dense<[-1, 9223372036854775807]> : tensor<2xi64>}> : () -> tensor<2xi64>
    %148 = "stablehlo.constant"() <{value = dense<[18446744073709551615, 1]> : tensor<2xui64>}> : () -> tensor<2xui64>
    %149 = "stablehlo.constant"() <{value = dense<(1.0e+00, 0.0e+00)> : tensor<2xcomplex<f32>>}> : () -> tensor<2xcomplex<f32>>
    %150 = "stablehlo.compare"(%arg0, %arg0) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xi1>
    %151 = "stablehlo.constant"() <{value = dense<0x7F800000> : tensor<2x3x4xf32>}> : () -> tensor<2x3x4xf32>
    %152 = "stablehlo.select"(%150, %arg0, %151) : (tensor<2x3x4xi1>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    %153 = "stablehlo.constant"() <{value = dense<-4.48e+02> : tensor<f32>}> : () -> tensor<f32>
    %154 = "stablehlo.constant"() <{value = dense<4.48e+02> : tensor<f32>}> : () -> tensor<f32>
    %155 = "stablehlo.clamp"(%153, %arg0, %154) : (tensor<f32>, tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
    %156 = "stablehlo.convert"(%155) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf8E4M3FN>
    %157 = "stablehlo.convert"(%arg2) : (tensor<2x2xi32>) -> tensor<2x2xf32>
    %158 = "stablehlo.abs"(%157) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %159 = "stablehlo.constant"() <{value = dense<5.877472e-39> : tensor<2x2xf32>}> : () -> tensor<2x2xf32>
    %160 = "stablehlo.maximum"(%158, %159) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %161 = "stablehlo.convert"(%160) : (tensor<2x2xf32>) -> tensor<2x2xf8E8M0FNU>
    %162 = "stablehlo.constant"() <{value = dense<3.0e+00> : tensor<2xbf16>}> : () -> tensor<2xbf16>
    %163 = "stablehlo.abs"(%162) : (tensor<2xbf16>) -> tensor<2xbf16>
    %164 = "stablehlo.constant"() <{value = dense<5.877472e-39> : tensor<2xbf16>}> : () -> tensor<2xbf16>
    %165 = "stablehlo.maximum"(%163, %164) : (tensor<2xbf16>, tensor<2xbf16>) -> tensor<2xbf16>
    %166 = "stablehlo.convert"(%165) : (tensor<2xbf16>) -> tensor<2xf8E8M0FNU>
    %167 = "stablehlo.convert"(%arg0) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf4E2M1FN>
    %168 = "stablehlo.compare"(%arg0, %arg0) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xi1>
    %169 = "stablehlo.transpose"(%arg0) <{permutation = array<i64: 2, 0, 1>}> : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
    %170 = "stablehlo.reshape"(%arg0) : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
    %171 = "stablehlo.broadcast_in_dim"(%arg7) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<3x3xf32>) -> tensor<2x3x3xf32>
    %172 = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 2, 3, 4>, start_indices = array<i64: 0, 0, 1>, strides = array<i64: 1, 1, 2>}> : (tensor<2x3x4xf32>) -> tensor<2x3x2xf32>
    "func.return"(%0, %1, %2, %4, %9, %17, %24#0, %24#1, %48#0, %48#1, %60, %64, %70, %79, %82, %84, %85, %87, %89, %91#0, %91#1, %110#0, %110#1, %116#0, %116#1, %126, %128#0, %128#1, %129, %130, %132, %135, %136, %137, %138, %140, %141, %142, %143#0, %143#1, %144, %145, %146, %147, %148, %149, %152, %156, %161, %166, %167, %168, %169, %170, %171, %172) : (tensor<2x3x5xf32>, tensor<3x3xf32>, tensor<1x4x4x4xf32>, tensor<1x3x4x4xf32>, tensor<1x3x8x8xf32>, tensor<3xf32>, tensor<2x4xf32>, tensor<2x4xi64>, tensor<2xi32>, tensor<2xi32>, tensor<3x2x2xf32>, tensor<2x2xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<2x8x4xf32>, tensor<3x5x3xf32>, tensor<2x3x4xf32>, tensor<1x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<i32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<2xui64>, tensor<6xui32>, tensor<6xf32>, tensor<6x4xui8>, tensor<6xi32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<8xcomplex<f32>>, tensor<5xcomplex<f32>>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<2x3x4xf32>, tensor<2x2xi32>, tensor<2x2xf32>, tensor<2xbf16>, tensor<0x3xf32>, tensor<2xi64>, tensor<2xui64>, tensor<2xcomplex<f32>>, tensor<2x3x4xf32>, tensor<2x3x4xf8E4M3FN>, tensor<2x2xf8E8M0FNU>, tensor<2xf8E8M0FNU>, tensor<2x3x4xf4E2M1FN>, tensor<2x3x4xi1>, tensor<4x2x3xf32>, tensor<6x4xf32>, tensor<2x3x3xf32>, tensor<2x3x2xf32>) -> ()
  }
}
