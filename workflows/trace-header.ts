/** The header in which Temporal's SDKs carry a trace (W3C Trace Context as JSON). */
export const TRACE_HEADER = '_tracer-data'
