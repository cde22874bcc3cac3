/** Thrown for a mnemonic, path, curve or format that cannot be used; the message is the API's text where it has one. */
export class ChainError extends Error {
  override readonly name = 'ChainError'
}
