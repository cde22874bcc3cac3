/** Thrown when text is not the encoding it should be; the message says what was expected and what was seen. */
export class EncodingError extends Error {
  override readonly name = 'EncodingError'
}
