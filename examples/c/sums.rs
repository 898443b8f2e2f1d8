//! Exact sums from Rust: `sum` of a slice, and an accumulator that is freed when it goes.
//!
//!   rustc sums.rs -L "$(pkg-config --variable=libdir samesum)" -l samesum
use std::ffi::{c_char, c_int, c_void, CStr};
use std::ptr;

const FLOAT64: c_int = 11;

#[repr(C)]
struct Array {
    data: *const c_void,
    kind: c_int,
    rank: u32,
    shape: *const u64,
    strides: *const i64,
    device: *mut c_void,
    offset: u64,
}

#[repr(C)]
struct RawAccumulator {
    _opaque: [u8; 0],
}

extern "C" {
    fn samesum_message() -> *const c_char;
    fn samesum_sum(array: *const Array, options: *const c_void, result: *mut f64) -> c_int;
    fn samesum_accumulator_new(accumulator: *mut *mut RawAccumulator) -> c_int;
    fn samesum_accumulator_add(accumulator: *mut RawAccumulator, array: *const Array, options: *const c_void) -> c_int;
    fn samesum_accumulator_round(accumulator: *const RawAccumulator, result: *mut f64) -> c_int;
    fn samesum_accumulator_free(accumulator: *mut RawAccumulator);
}

fn check(status: c_int) -> Result<(), String> {
    match status {
        0 => Ok(()),
        _ => Err(unsafe { CStr::from_ptr(samesum_message()) }.to_string_lossy().into_owned()),
    }
}

/// Calls `with` with a view of the elements.
fn view<T>(elements: &[f64], with: impl FnOnce(&Array) -> T) -> T {
    let shape = elements.len() as u64;
    let data = elements.as_ptr().cast();
    with(&Array { data, kind: FLOAT64, rank: 1, shape: &shape, strides: ptr::null(), device: ptr::null_mut(), offset: 0 })
}

fn sum(elements: &[f64]) -> Result<f64, String> {
    let mut total = 0.0;
    check(view(elements, |array| unsafe { samesum_sum(array, ptr::null(), &mut total) }))?;
    Ok(total)
}

struct Accumulator(*mut RawAccumulator);

impl Accumulator {
    fn new() -> Result<Self, String> {
        let mut handle = ptr::null_mut();
        check(unsafe { samesum_accumulator_new(&mut handle) })?;
        Ok(Accumulator(handle))
    }
    fn add(&mut self, elements: &[f64]) -> Result<(), String> {
        check(view(elements, |array| unsafe { samesum_accumulator_add(self.0, array, ptr::null()) }))
    }
    fn round(&self) -> Result<f64, String> {
        let mut total = 0.0;
        check(unsafe { samesum_accumulator_round(self.0, &mut total) })?;
        Ok(total)
    }
}

impl Drop for Accumulator {
    fn drop(&mut self) {
        unsafe { samesum_accumulator_free(self.0) }
    }
}

fn main() -> Result<(), String> {
    let values = [1e16, 1.0, -1e16];
    println!("loop: {}, exact: {}", values.iter().sum::<f64>(), sum(&values)?);
    assert_eq!(sum(&values)?, 1.0);

    let mut parts = Accumulator::new()?;
    parts.add(&values)?;
    parts.add(&[0.5; 3])?;
    assert_eq!(parts.round()?, 2.5);

    let refused = view(&values, |array| check(unsafe { samesum_sum(array, ptr::null(), ptr::null_mut()) }));
    assert_eq!(refused.unwrap_err(), "'result' is a null pointer");
    Ok(())
}
