/** How long one request to a shared plan store may take, in milliseconds; what takes longer is unknown. */
export const STORE_MS = 10_000
/** How long a connection to it may take to be there. */
export const STORE_CONNECT_MS = 5_000
