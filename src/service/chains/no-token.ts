/** Thrown when a configured token of a chain does not answer as a token. */
export class NoToken extends Error {
  override readonly name = 'NoToken'
  readonly token: string

  constructor(token: string, reason: string, cause?: unknown) {
    super(`${token} does not answer as a token: ${reason}`, { cause })
    this.token = token
  }
}
