/** The key that tests seal payloads with; recorded histories are opened with it for ever. */
export const TEST_PAYLOAD_KEY = '7e'.repeat(32)
