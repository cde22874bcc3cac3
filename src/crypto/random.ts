import { randomBytes as platformRandomBytes } from 'node:crypto'
import type { Bytes } from '../encoding/index.ts'

/** A source of unpredictable bytes; passed as an argument, so that tests may fix it. */
export type RandomBytes = (length: number) => Uint8Array

/** Draws bytes from the platform's cryptographic generator. */
export function randomBytes(length: number): Bytes {
  return new Uint8Array(platformRandomBytes(length))
}
