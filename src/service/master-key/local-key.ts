/** Keepers that are keys of this machine: 32 bytes as 64 hex digits, in a file or in a variable. */
import { createPooledRandomBytes, seal, unseal } from '../../crypto/index.ts'
import { decodeHex } from '../../encoding/index.ts'
import { readPrivate } from '../../local/index.ts'
import { ServiceError } from '../error.ts'
import { type Keeper, type OpenKeeper, PURPOSE } from './keeper.ts'

/** `file:/etc/quorate/outer.key`: on another volume than the folder, or there is no point in it. */
export const openKeyFile: OpenKeeper = async (path) => keeperBy(readPrivate(path)?.trim(), `the file \`${path}\``)

/** `env:QUORATE_MASTER_KEY`. */
export const openVariable: OpenKeeper = async (name, tools) =>
  keeperBy(tools.environment[name]?.trim(), `the variable ${name}`)

function keeperBy(text: string | undefined, where: string): Keeper {
  if (text === undefined || !/^[0-9a-f]{64}$/i.test(text)) {
    const fault = text === undefined ? 'is not there' : 'does not have 64 hex digits'
    throw new ServiceError('service/key-keeper-failed', `${where} ${fault}`, {
      next: 'write 32 random bytes there: `openssl rand -hex 32`',
    })
  }
  const key = decodeHex(text.toLowerCase())
  return {
    wrap: async (plain) => seal(key, plain, PURPOSE, createPooledRandomBytes()),
    unwrap: async (wrapped) => unseal(key, wrapped, PURPOSE),
  }
}
