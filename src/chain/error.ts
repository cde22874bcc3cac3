/** Thrown for a mnemonic, path, curve or format that cannot be used; the message is the API's text where it has one. */
export class ChainError extends Error {
  override readonly name: string = 'ChainError'
}

/** Thrown for bytes that are no transaction that can be read. */
export class UnreadableTransaction extends ChainError {
  override readonly name = 'UnreadableTransaction'
}

/** Thrown for a transaction that can be read, of a kind that is not signed. */
export class UnsupportedTransaction extends ChainError {
  override readonly name = 'UnsupportedTransaction'
}
