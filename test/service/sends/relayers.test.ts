import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { addressOf } from '../../../src/chain/index.ts'
import { randomBytes } from '../../../src/crypto/index.ts'
import { encodeHex } from '../../../src/encoding/index.ts'
import { createSealing } from '../../../src/service/keys/sealing.ts'
import { prepareRelayers, withRelayerKey } from '../../../src/service/sends/relayers.ts'
import { openDatabase } from '../../../src/service/store/index.ts'
import { Secret } from '../../../src/telemetry/index.ts'

test('relayers: a data folder that lacks them gets them once, and each key is that of its address', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-relayers-'))
  const database = openDatabase(join(folder, 'quorate.db'), { now: 0 })
  try {
    const sealing = createSealing(new Secret(randomBytes(32)), randomBytes)
    const tools = { database, sealing, randomBytes, clock: () => 0 }
    const addresses = await prepareRelayers(tools)
    expect(await prepareRelayers(tools)).toEqual(addresses)
    const opened = (namespace: keyof typeof addresses) =>
      database.read((tx) =>
        withRelayerKey({ tx, unseal: sealing.unseal }, namespace, ({ curve, publicKey }) =>
          addressOf(curve, encodeHex(publicKey), `ADDRESS_FORMAT_${namespace === 'eip155' ? 'ETHEREUM' : 'SOLANA'}`),
        ),
      )
    expect({ eip155: await opened('eip155'), solana: await opened('solana') }).toEqual(addresses)
  } finally {
    await database.close()
    rmSync(folder, { recursive: true })
  }
})
