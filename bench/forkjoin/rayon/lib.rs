// SPDX-License-Identifier: MIT
//! rayon: join where two branches fork, scope where there are more. See ../peer.h

use rayon::prelude::*;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

const QUEENS_MAX: usize = 16;
const TREE_ROOT: usize = 2000;
const TREE_FORK: usize = 8;
const SORT_CUT: usize = 2048;
const MATRIX_CUT: usize = 64;

extern "C" {
    fn sum_of(from: *const i64, n: usize) -> i64;
    fn sort_few(base: *mut c_int, n: usize);
    fn merge_halves(base: *mut c_int, spare: *mut c_int, n: usize, half: usize);
    fn multiply_block(c: *mut f64, a: *const f64, b: *const f64, stride: usize);
}

static POOL: OnceLock<rayon::ThreadPool> = OnceLock::new();

fn enter<R: Send>(run: impl FnOnce() -> R + Send) -> R {
    POOL.get().unwrap().install(run)
}

#[no_mangle]
pub extern "C" fn peer_start(_kind: *const c_char, workers: c_uint) {
    let builder = rayon::ThreadPoolBuilder::new().num_threads(workers as usize);
    POOL.set(builder.stack_size(64 << 20).build().unwrap()).unwrap();
}

fn fib(n: c_int) -> i64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = rayon::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

#[no_mangle]
pub extern "C" fn peer_fib(n: c_int) -> i64 {
    enter(|| fib(n))
}

// -- Trees ---------------------------------------------------------------------------------------

type Board = [i8; QUEENS_MAX];

fn is_safe(board: &Board, row: usize, column: usize) -> bool {
    board[..row].iter().enumerate().all(|(i, &other)| {
        let away = (other as i32 - column as i32).unsigned_abs() as usize;
        away != 0 && away != row - i
    })
}

fn queens(n: usize, row: usize, board: &Board) -> i64 {
    if row == n {
        return 1;
    }
    let mut ways = [0; QUEENS_MAX];
    rayon::scope(|scope| {
        for (column, way) in ways.iter_mut().enumerate().take(n) {
            if is_safe(board, row, column) {
                let mut next = *board;
                next[row] = column as i8;
                scope.spawn(move |_| *way = queens(n, row + 1, &next));
            }
        }
    });
    ways.iter().sum()
}

#[no_mangle]
pub extern "C" fn peer_queens(n: c_int) -> i64 {
    enter(|| queens(n as usize, 0, &[0; QUEENS_MAX]))
}

fn tree_mix(mut x: u64) -> u64 {
    for _ in 0..12 {
        x = (x ^ x >> 30).wrapping_mul(0xbf58476d1ce4e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d049bb133111eb);
        x ^= x >> 31;
    }
    x
}

fn visit_all<const ROOM: usize>(parent: u64) -> i64 {
    let mut nodes = [0; ROOM];
    rayon::scope(|scope| {
        for (i, count) in nodes.iter_mut().enumerate() {
            scope.spawn(move |_| *count = visit(parent, i as u64));
        }
    });
    1 + nodes.iter().sum::<i64>()
}

fn visit(parent: u64, number: u64) -> i64 {
    let step = 0x9e3779b97f4a7c15u64.wrapping_mul(number + 1);
    let id = tree_mix(parent.wrapping_add(step));
    if id >> 32 < 536332000 {
        visit_all::<TREE_FORK>(id)
    } else {
        1
    }
}

#[no_mangle]
pub extern "C" fn peer_tree() -> i64 {
    enter(|| visit_all::<TREE_ROOT>(tree_mix(130)))
}

// -- Arrays: the pointers of C, of which no two tasks have the same elements ----------------------

struct Shared<T>(*mut T);
unsafe impl<T> Send for Shared<T> {}
unsafe impl<T> Sync for Shared<T> {}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Shared<T> {}

impl<T> Shared<T> {
    fn at(self, index: usize) -> Self {
        Shared(self.0.wrapping_add(index))
    }
}

fn sum(from: &[i64], cut: usize) -> i64 {
    if from.len() < cut {
        return unsafe { sum_of(from.as_ptr(), from.len()) };
    }
    let (left, right) = from.split_at(from.len() / 2);
    let (a, b) = rayon::join(|| sum(left, cut), || sum(right, cut));
    a + b
}

#[no_mangle]
pub unsafe extern "C" fn peer_sum(from: *const i64, n: usize, cut: usize) -> i64 {
    let numbers = std::slice::from_raw_parts(from, n);
    enter(|| sum(numbers, cut))
}

fn sort(base: Shared<c_int>, spare: Shared<c_int>, n: usize) {
    if n <= SORT_CUT {
        return unsafe { sort_few(base.0, n) };
    }
    let half = n / 2;
    rayon::join(
        || sort(base.at(0), spare.at(0), half),
        || sort(base.at(half), spare.at(half), n - half),
    );
    unsafe { merge_halves(base.0, spare.0, n, half) }
}

#[no_mangle]
pub extern "C" fn peer_sort(base: *mut c_int, spare: *mut c_int, n: usize) {
    let (base, spare) = (Shared(base), Shared(spare));
    enter(|| sort(base.at(0), spare.at(0), n))
}

#[no_mangle]
pub unsafe extern "C" fn peer_library_sort(base: *mut c_int, n: usize) {
    let numbers = std::slice::from_raw_parts_mut(base, n);
    enter(|| numbers.par_sort_unstable())
}

type Cells = Shared<f64>;

fn multiply(c: Cells, a: Cells, b: Cells, n: usize, stride: usize) {
    if n <= MATRIX_CUT {
        return unsafe { multiply_block(c.0, a.0, b.0, stride) };
    }
    let half = n / 2;
    let down = half * stride;
    for step in 0..2 {
        rayon::scope(|scope| {
            for (row, column) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let to = c.at(row * down + column * half);
                let left = a.at(row * down + step * half);
                let right = b.at(step * down + column * half);
                scope.spawn(move |_| multiply(to, left, right, half, stride));
            }
        });
    }
}

#[no_mangle]
pub extern "C" fn peer_matrix(c: *mut f64, a: *mut f64, b: *mut f64, n: usize, stride: usize) {
    let (c, a, b) = (Shared(c), Shared(a), Shared(b));
    enter(|| multiply(c.at(0), a.at(0), b.at(0), n, stride))
}

type Body = unsafe extern "C" fn(usize, usize, *mut c_void);

#[no_mangle]
pub extern "C" fn peer_loop(n: usize, _grain: usize, body: Body, data: *mut c_void) {
    let data = Shared(data);
    enter(|| {
        (0..n).into_par_iter().for_each(|i| unsafe { body(i, i + 1, data.at(0).0) });
    })
}
