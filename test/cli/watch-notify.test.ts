/** People are told by a real worker of what somebody does to a live organization: nobody asks for a look. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { TEST_PAYLOAD_KEY } from '../payload-key.ts'
import { quorateShared as quorate, writeFiles } from './harness.ts'
import { scene } from './scene.ts'

const definitions = `organization: acme
id: \${env.ACME_ORGANIZATION_ID}
tags: { treasury: {}, engineering: {} }
watch:
  every: 2s
  notify:
    oncall: { slack: QUORATE_NOTIFY_TEST_ONCALL, about: [drift] }
    siem: { webhook: QUORATE_NOTIFY_TEST_ONCALL }
`

test('watch: a hand edit is told to people by the next looks, and status says who cannot be told', async () => {
  const texts: string[] = []
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    texts.push(JSON.parse(Buffer.concat(parts).toString()).text)
    response.writeHead(200).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const path = '/services/canary-of-the-url'
  vi.stubEnv('QUORATE_NOTIFY_TEST_ONCALL', `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`)
  try {
    const place = await scene({ more: { QUORATE_PAYLOAD_KEY: TEST_PAYLOAD_KEY } })
    // No child of the worker inherits it.
    expect(process.env['QUORATE_NOTIFY_TEST_ONCALL']).toBeUndefined()
    const defs = writeFiles(join(place.folder, 'defs'), { 'acme.yaml': definitions })
    expect((await quorate(['apply', defs, '--yes'], place)).exit).toBe(0)
    const added = await quorate(['watch', 'add', defs], place)
    expect([added.exit, added.stderr]).toEqual([0, expect.not.stringContaining('error')])

    const { userTags } = await place.service.root.query('list_user_tags')
    const { tagId } = userTags.find(({ tagName }) => tagName === 'treasury')!
    const deleted = await place.service.root.submit('ACTIVITY_TYPE_DELETE_USER_TAGS', { userTagIds: [tagId] })
    await vi.waitFor(() => expect(texts).toHaveLength(1), { timeout: 120_000, interval: 250 })
    expect(texts[0]).toMatch(/• drift: tag.treasury is not as defined since [\dT:.Z-]+: somebody deleted it;/)
    expect(texts[0]).toMatch(new RegExp(`by root \\(key .*\\) at .*, activity ${deleted.id}`))

    // The other sink has no key to sign with: it is named, and what the worker knows is not.
    await vi.waitFor(
      async () => {
        const { stdout } = await quorate(['status'], place)
        expect(stdout).toMatch(
          /notifications do not reach siem since .*: the worker has no variable QUORATE_NOTIFY_TEST_ONCALL_KEY/,
        )
        expect(stdout).not.toContain('canary-of-the-url')
      },
      { timeout: 120_000, interval: 500 },
    )
  } finally {
    vi.unstubAllEnvs()
    await new Promise((resolve) => server.close(resolve))
  }
})
