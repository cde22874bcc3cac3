/** The same bytes are one activity, however many send them at once, and however often the service restarts. */
import { Agent, request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeUtf8 } from '../../../src/encoding/index.ts'
import type { JsonObject } from '../../../src/protocol/index.ts'
import { createApiKeyStamper } from '../../../src/stamp/index.ts'
import { Secret } from '../../../src/telemetry/index.ts'
import { runs } from '../../runs.ts'
import { complete } from '../handlers/steps.ts'
import { startTestService, type TestBody, type TestService } from '../harness.ts'
import { rowsOf } from '../rows.ts'

const ROUNDS = runs(100)
const CONNECTIONS = 32
const RESTART_EVERY = ROUNDS / 10

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

/** Sends over a connection that is open already, so that all of a round arrive together. */
function post(agent: Agent, { path, text }: TestBody, stamp: string): Promise<{ status: number; body: JsonObject }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${service.url}${path}`,
      { method: 'POST', agent, headers: { 'x-stamp': stamp } },
      (answer) => {
        const parts: Buffer[] = []
        answer.on('data', (part: Buffer) => parts.push(part))
        answer.on('end', () => {
          resolve({ status: answer.statusCode!, body: JSON.parse(Buffer.concat(parts).toString()) as JsonObject })
        })
      },
    )
    sent.on('error', reject)
    sent.end(text)
  })
}

describe('one execution', () => {
  test(
    `one execution: ${CONNECTIONS} connections send one body at once, ${ROUNDS} times, with restarts between`,
    async () => {
      const wallet = { walletName: 'w', accounts: [] }
      const { walletId } = await complete(service.root, 'ACTIVITY_TYPE_CREATE_WALLET', wallet)
      const { privateKey } = service.root
      const stamper = createApiKeyStamper({ privateKey: new Secret(privateKey) })
      const account = {
        curve: 'CURVE_SECP256K1',
        pathFormat: 'PATH_FORMAT_BIP32',
        addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
      }
      const figures = { rounds: 0, sent: 0, restarts: 0, several: 0, notCompleted: 0 }
      let agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
      const ids = new Set<string>()
      for (let round = 0; round < ROUNDS; round++) {
        if (round > 0 && round % RESTART_EVERY === 0) {
          agent.destroy()
          await service.restart()
          agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
          figures.restarts++
        }
        const path = `m/44'/60'/0'/0/${round}`
        const body = service.body('ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS', {
          walletId,
          accounts: [{ ...account, path }],
        })
        const { value } = await stamper.stamp(encodeUtf8(body.text))
        const answers = await Promise.all(Array.from({ length: CONNECTIONS }, () => post(agent, body, value)))
        const seen = answers.map((answer) => answer.body['activity'] as { id: string; status: string })
        figures.rounds++
        figures.sent += answers.length
        figures.notCompleted += seen.filter((activity) => activity?.status !== 'ACTIVITY_STATUS_COMPLETED').length
        const [first] = seen
        if (seen.some(({ id }) => id !== first!.id)) figures.several++
        ids.add(first!.id)
      }
      agent.destroy()
      const count = async (sql: string) => Number(Object.values((await rowsOf(service.dataDir, sql))[0]!)[0])
      const rows = await count("select count(*) from activities where type = 'ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS'")
      const accounts = await count('select count(*) from wallet_accounts')
      const votes = await count(
        "select count(*) from votes where activity_id in (select id from activities where type = 'ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS')",
      )
      console.log(
        `rounds=${figures.rounds} sent=${figures.sent} restarts=${figures.restarts} activities=${rows} side effects=${accounts}`,
      )
      expect(figures).toEqual({
        rounds: ROUNDS,
        sent: ROUNDS * CONNECTIONS,
        restarts: ROUNDS / RESTART_EVERY - 1,
        several: 0,
        notCompleted: 0,
      })
      expect({ ids: ids.size, rows, accounts, votes }).toEqual({
        ids: ROUNDS,
        rows: ROUNDS,
        accounts: ROUNDS,
        votes: ROUNDS,
      })
    },
    ROUNDS * 1_200,
  )
})
