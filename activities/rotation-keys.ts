/**
 * Private keys of rotations: the new one until it has its place, the old one until the API refuses it. Files of their owner alone in a folder
 * beside the plan store, which holds no key. Nothing else of a rotation has a private key.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { generateP256KeyPair, KEY_CURVES } from '../src/crypto/index.ts'
import { claimPrivate, readPrivate } from '../src/local/index.ts'
import { Secret } from '../src/telemetry/index.ts'
import { ApplyError } from './error.ts'

export interface RotationKey {
  /** Lower-case hex. */
  readonly publicKey: string
  readonly privateKey: Secret
}

export interface RotationKeys {
  /** Makes the new key pair, or finds the one that was made: an activity that runs again works with the same. */
  make(rotationId: string): RotationKey
  /** Throws `rotate/key-missing`. */
  get(rotationId: string): RotationKey
  /** Keeps the old private key, for the proof that it is refused. */
  keepOld(rotationId: string, privateKey: Secret): void
  getOld(rotationId: string): Secret | undefined
  /** Forgets what is not needed any more: the old key is, until the API has deleted it or where nothing took its place. */
  forget(rotationId: string, which: 'new' | 'both'): void
}

export function createRotationKeys(folder: string): RotationKeys {
  const at = (rotationId: string, which: 'new' | 'old') => {
    if (!/^[0-9a-f]+$/.test(rotationId)) throw missing()
    return join(folder, `${rotationId}.${which}.key`)
  }
  const read = (rotationId: string, which: 'new' | 'old') => {
    const text = readPrivate(at(rotationId, which))
    return text === undefined ? undefined : new Secret(text.trim())
  }
  const keys: RotationKeys = {
    make(rotationId) {
      claimPrivate(at(rotationId, 'new'), `${generateP256KeyPair().privateKey}\n`)
      return keys.get(rotationId)
    },
    get(rotationId) {
      const privateKey = read(rotationId, 'new')
      if (!privateKey) throw missing()
      return { publicKey: KEY_CURVES.p256.publicKeyOf(privateKey.reveal()), privateKey }
    },
    keepOld: (rotationId, privateKey) => claimPrivate(at(rotationId, 'old'), `${privateKey.reveal()}\n`),
    getOld: (rotationId) => read(rotationId, 'old'),
    forget(rotationId, which) {
      rmSync(at(rotationId, 'new'), { force: true })
      if (which === 'both') rmSync(at(rotationId, 'old'), { force: true })
    },
  }
  return keys
}

function missing(): ApplyError {
  return new ApplyError('rotate/key-missing', 'the new private key of this rotation is not in the data folder')
}
