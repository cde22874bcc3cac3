/** Thrown when keys or sealed bytes are not what they must be; the message never repeats them. */
export class CryptoError extends Error {
  override readonly name = 'CryptoError'
}
