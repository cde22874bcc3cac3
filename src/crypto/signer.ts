/** Both halves of a key: the private one (64 hex digits) and the public one as its curve writes it, lower case. */
export interface KeyPair {
  readonly privateKey: string
  readonly publicKey: string
}

/** Signs with one key. */
export interface Signer {
  /** Lower-case hex: the compressed point, or the 32 bytes of Ed25519. */
  readonly publicKey: string
  /** Signs a body; the signature is hex, in the form of the scheme. */
  sign(body: Uint8Array): string
}

/** What one signature check needs. */
export interface SignatureClaim {
  /** Hex, in either case. */
  readonly publicKey: string
  readonly body: Uint8Array
  readonly signatureHex: string
}

/** Whether a signature is its key's over exactly this body; what is malformed is `false`, never an error. */
export type Verify = (claim: SignatureClaim) => boolean

/** The same, worked out beside the main thread: the body must stay as it is until then. */
export type VerifyInPool = (claim: SignatureClaim) => Promise<boolean>

/** Operations with keys of one curve. Invalid private keys throw `CryptoError`, which never repeats them. */
export interface CurveOperations {
  generateKeyPair(): KeyPair
  /** Computes the public key of a private one. */
  publicKeyOf(privateKeyHex: string): string
  /** Creates a signer that keeps its parsed key: the platform then signs an order of magnitude faster than JavaScript. */
  createSigner(privateKeyHex: string): Signer
  readonly verify: Verify
  readonly verifyInPool: VerifyInPool
}
