//! Requests for an OpenTelemetry collector: with what is known of the program, and on demand with the counts alone that came
//! since the collector accepted the last one (delta temporality).
//!
//!     picollo_otlp_export *otlp;
//!     const picollo_label resource[] = {{"service.name", "shop"}};
//!     picollo_otlp_options options = PICOLLO_OTLP_OPTIONS_INIT;
//!     options.temporality = PICOLLO_TEMPORALITY_DELTA;
//!     options.resource = resource;
//!     options.resource_length = 1;
//!     picollo_otlp_export_create(&options, &otlp);
//!     each minute:
//!         picollo_otlp_export_update(otlp, registry);
//!         picollo_otlp_export_request(otlp, bytes, sizeof bytes, &length);
//!         if (post(bytes, length))                    (to /v1/metrics, as application/x-protobuf)
//!             picollo_otlp_export_accept(otlp);
//!
//! What is not accepted is in the next request too: a push that fails makes the next interval longer, without a queue and
//! without a loss. Only where a time-out comes after the collector has accepted all, that interval is counted twice.

use core::ffi::c_void;

use picollo_core::{Error, Lock, OtlpExport, Temporality};

use crate::argument::{input, output, slice_mut};
use crate::failure::{Failure, Outcome};
use crate::guard::{guard, guard_void};
use crate::handles::{picollo_otlp_export, picollo_registry};
use crate::memory;
use crate::options;
use crate::registry::{destroy_locked, labels_of, picollo_label, with};
use crate::status::picollo_status;

/// Each request has the counts since their metrics were made, and replaces the one before. The default.
pub const PICOLLO_TEMPORALITY_CUMULATIVE: u32 = 0;
/// Each request has the counts since the last one that was accepted; the first all that there are.
pub const PICOLLO_TEMPORALITY_DELTA: u32 = 1;

const _: () = assert!(
    PICOLLO_TEMPORALITY_CUMULATIVE == Temporality::Cumulative as u32
        && PICOLLO_TEMPORALITY_DELTA == Temporality::Delta as u32
);

/// What an export is made with. Begin with PICOLLO_OTLP_OPTIONS_INIT.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_otlp_options {
    /// sizeof(picollo_otlp_options).
    pub struct_size: u32,
    /// PICOLLO_TEMPORALITY_...
    pub temporality: u32,
    /// Attributes of the program, whose names may have dots: service.name, service.instance.id and others.
    pub resource: *const picollo_label,
    /// Number of attributes.
    pub resource_length: usize,
}

// SAFETY: numbers and a pointer, which are valid for any bits, in naturally aligned order without padding (asserted in
// layout.rs), the size first.
unsafe impl options::Options for picollo_otlp_options {
    const FIRST_SIZE: usize = size_of::<Self>();
}

type Shared = Lock<OtlpExport>;

/// Works on the export behind a handle, alone.
///
/// # Safety
/// If not NULL, `export` must be a handle that is not freed meanwhile.
unsafe fn with_export<T>(
    export: *const picollo_otlp_export,
    work: impl FnOnce(&mut OtlpExport) -> Outcome<T>,
) -> Outcome<T> {
    // SAFETY: a handle leads to this; the rest is passed on.
    let shared: &Shared = unsafe { input(export.cast())? };
    shared.with(work).unwrap_or(Err(Failure::FORKED))
}

/// Makes an export, which has no request yet.
///
/// Requires: options is NULL for the defaults: cumulative counts of a program of which nothing is said.
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (out, and with a length above 0 resource); PICOLLO_ERR_INVALID_ARGUMENT for an
///   unknown temporality, and texts that are not UTF-8; PICOLLO_ERR_UNSUPPORTED for unknown fields; PICOLLO_ERR_OUT_OF_MEMORY.
/// Ownership: *out is the caller's, for picollo_otlp_export_free; what options lead to is copied.
/// Threads: any thread.
/// Cost: allocates copies of what it is given.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_otlp_export_create(
    options: *const picollo_otlp_options,
    out: *mut *mut picollo_otlp_export,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        unsafe {
            let out = output(out)?;
            let (temporality, resource) = match options::read(options)? {
                Some(asked) => (
                    Temporality::try_from(asked.temporality)?,
                    labels_of(asked.resource, asked.resource_length)?,
                ),
                None => Default::default(),
            };
            let export = OtlpExport::new(temporality, &resource)?;
            out.set(memory::create(Lock::new(export))?.as_ptr().cast());
            Ok(())
        }
    })
}

/// Frees an export. NULL is allowed and does nothing.
///
/// Threads: any thread, once.
/// Cost: frees its memory.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_otlp_export_free(otlp: *mut picollo_otlp_export) {
    // SAFETY: a handle leads to this, which the caller gives up.
    guard_void(|| unsafe { destroy_locked(otlp.cast::<Shared>()) });
}

/// Updates a registry, as picollo_registry_update does, and makes a request of all that it has, or of what came since the last
/// request that was accepted. A gauge is as it is.
///
/// Requires: the registry is the same for all updates of an export. It owes the export nothing, and may be freed before it.
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (otlp, registry); PICOLLO_ERR_BUSY and PICOLLO_ERR_OUT_OF_MEMORY: the request is
///   then the one before, which may still be accepted; PICOLLO_ERR_FORKED.
/// Threads: any thread; other calls with this export or this registry wait for it.
/// Cost: that of the update, a microsecond or less for each bucket with counts; allocates the request, and of differences a copy of
///   what the registry has.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_otlp_export_update(
    otlp: *mut picollo_otlp_export,
    registry: *mut picollo_registry,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        unsafe {
            with_export(otlp, |export| {
                with(registry, |registry| Ok(export.update(registry, picollo_native::unix_nanos())?))
            })
        }
    })
}

/// Writes the last request, an ExportMetricsServiceRequest in Protocol Buffers, as often as one likes. It is empty once it was
/// accepted, and before the first update.
///
/// Requires: buffer has capacity bytes.
/// Returns: PICOLLO_OK; PICOLLO_ERR_BUFFER_TOO_SMALL; PICOLLO_ERR_NULL_POINTER (otlp, out_length, and buffer with a
///   capacity above 0); PICOLLO_ERR_FORKED.
/// Threads: any thread.
/// Cost: copies bytes.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_otlp_export_request(
    otlp: *const picollo_otlp_export,
    buffer: *mut c_void,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        unsafe {
            let (buffer, out_length) = (slice_mut(buffer.cast::<u8>(), capacity)?, output(out_length)?);
            let length = with_export(otlp, |export| {
                let request = export.request();
                if let Some(room) = buffer.get_mut(..request.len()) {
                    room.copy_from_slice(request);
                }
                Ok(request.len())
            })?;
            out_length.set(length);
            if length > capacity { Err(Failure::BUFFER_TOO_SMALL) } else { Ok(()) }
        }
    })
}

/// Notes that the collector has accepted the last request: the next difference counts from there.
///
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (otlp); PICOLLO_ERR_EMPTY when there is no request that was not accepted
///   yet; PICOLLO_ERR_FORKED.
/// Threads: any thread; of several that push, each with an export of its own.
/// Cost: frees what the collector had before.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_otlp_export_accept(otlp: *mut picollo_otlp_export) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promise, passed on.
        unsafe { with_export(otlp, |export| if export.accept() { Ok(()) } else { Err(Error::Empty.into()) }) }
    })
}
