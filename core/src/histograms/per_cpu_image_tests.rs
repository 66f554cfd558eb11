use super::*;
use crate::handle::shared::{SharedHistogram, attach_per_cpu};
use crate::platform::pages;
use crate::snapshot::snapshot::Counts;

fn layout() -> Layout {
    Layout::new(0.01, 1, 1_000_000)
}

/// Makes a zeroed image, which is never freed.
fn made(shards: usize) -> (PerCpuImage, NonNull<u8>, SharedHistogram) {
    let image = PerCpuImage::new(&layout(), shards).unwrap();
    let memory = pages::map(image.size() + PAGE).unwrap();
    let memory =
        memory.map_addr(|address| core::num::NonZero::new(address.get().next_multiple_of(PAGE)).unwrap());
    // SAFETY: the memory is zeroed, long enough, ours, and never freed.
    unsafe {
        image.init_at(memory, layout());
        image.fill_table(memory.add(PerCpuImage::TABLE), memory);
        let histogram = attach_per_cpu(memory, image.size()).unwrap();
        (image, memory, histogram)
    }
}

#[test]
fn records_go_to_the_shards_and_the_others_to_the_shared_counters() {
    for shards in [0, 1, 64, 600] {
        let (image, memory, histogram) = made(shards);
        for value in 1..=10_000 {
            histogram.record(value);
        }
        histogram.record_n(7, 5);
        histogram.record_batch(&[1, 2, 3, 2_000_000]);
        histogram.record(0);
        let totals = histogram.snapshot().unwrap().counts();
        assert_eq!(totals, Counts { total: 10_008, underflow: 1, overflow: 1, lost: 0 }, "{shards}");
        // The sum of counters: those of a CPU, or the shared ones.
        let sum = |start: usize| -> u64 {
            // SAFETY: these are our cells, and nobody records.
            (0..layout().length())
                .map(|cell| unsafe { memory.add(start).cast::<u64>().add(cell).read() })
                .sum()
        };
        let in_shards: u64 = (0..shards).map(|cpu| sum(image.shard(cpu))).sum();
        assert_eq!(in_shards + sum(image.shared()), 10_008);
        if has_restartable_sequences() && shards >= 64 {
            // Interrupted additions are few.
            assert!(in_shards > 9_000, "{in_shards} of {shards} shards");
        }
        assert_eq!(histogram.reset(), Err(Error::Unsupported));
        assert_eq!(image.size() % PAGE, 0);
    }
}

#[test]
fn a_cpu_without_a_shard_maps_none() {
    let (_, memory, histogram) = made(1);
    // Without a shard, only the shared counters may take its place.
    // SAFETY: this is our table.
    unsafe { memory.add(PerCpuImage::TABLE).cast::<usize>().write(0) };
    for _ in 0..100 {
        histogram.record(5);
    }
    assert_eq!(histogram.snapshot().unwrap().counts().total, 100);
    // SAFETY: as above.
    let pointers = |cpu: usize| unsafe { memory.add(PerCpuImage::TABLE).cast::<usize>().add(cpu).read() };
    assert!((0..PAGE / size_of::<usize>()).all(|cpu| pointers(cpu) == 0));
}

#[test]
fn a_copy_is_a_dense_histogram() {
    let (image, memory, histogram) = made(3);
    // When a cell wraps around, its position in the header shows it.
    histogram.record_n(5, u64::MAX);
    (0..100).for_each(|_| histogram.record_n(5, u64::MAX));
    #[repr(align(64))]
    struct Copied([u64; PerCpuImage::HEADER_SIZE / 8]);
    let mut copy = Copied([0; PerCpuImage::HEADER_SIZE / 8]);
    // SAFETY: this is our header, and words are bytes.
    unsafe {
        memory
            .add(PerCpuImage::HEADER)
            .cast::<u64>()
            .copy_to_nonoverlapping(NonNull::from(&mut copy.0).cast(), copy.0.len());
    }
    assert_eq!(PerCpuImage::from_copy(&copy.0), Ok(image));
    assert!(copy.0[PerCpuImage::WRAPS / 8] > 90);
    assert_eq!(PerCpuImage::make_dense(&mut copy.0), Ok(layout()));
    assert_eq!(PerCpuImage::from_copy(&copy.0), Err(Error::Corrupt), "no longer per CPU");
}

/// Every byte of the header may have any value.
#[test]
fn broken_headers_are_refused() {
    let (image, memory, _) = made(2);
    let header = memory.as_ptr().wrapping_add(PerCpuImage::HEADER);
    for at in 0..PerCpuImage::HEADER_SIZE {
        for flip in [1, 0x80, 0xff] {
            // SAFETY: this is our byte.
            unsafe { *header.add(at) ^= flip };
            // SAFETY: nothing is recorded through the result.
            let attached = unsafe { attach_per_cpu(memory, image.size()) };
            let is_extent = (256..272).contains(&at);
            assert!(!is_extent || attached.is_err(), "byte {at}");
            // SAFETY: as above.
            unsafe { *header.add(at) ^= flip };
        }
    }
    // SAFETY: as above; the memory is too short, or not at the beginning of a page.
    unsafe {
        assert_eq!(attach_per_cpu(memory, image.size() - 1).err(), Some(Error::BufferTooSmall));
        assert_eq!(attach_per_cpu(memory.add(64), image.size()).err(), Some(Error::InvalidArgument));
    }
}
