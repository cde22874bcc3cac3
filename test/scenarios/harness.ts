import { loadDefinitions } from '../../src/definitions/index.ts'
import { createSource, type Diagnostic, positionAt } from '../../src/diagnostics/index.ts'
import { playSuite, type SuiteOptions, type World, worldOfDefinitions } from '../../src/scenarios/index.ts'

const definitions = `organization: test
rootQuorum: { threshold: 2, users: [rita, rolf] }
tags: { ops: {} }
users:
  ana: { email: ana@test.test, tags: [ops], apiKeys: { laptop: { curve: P256, publicKey: '\${var.ana}' } } }
  bob: { tags: [ops], apiKeys: { laptop: { curve: P256, publicKey: '\${var.bob}' } } }
  cyd: {}
  rita: { apiKeys: { laptop: { curve: P256, publicKey: '\${var.rita}' } } }
  rolf: { apiKeys: { laptop: { curve: P256, publicKey: '\${var.rolf}' } } }
wallets: { main: { accounts: [] }, "bob's": { accounts: [] } }
policies:
  small:
    effect: allow
    consensus: approvers.any(u, u.tags.contains('\${tag.ops}'))
    condition: >-
      activity.kind == 'SIGN_TRANSACTION'
      && wallet.id == '\${wallet.main}'
      && eth.tx.value < 1000
  pair:
    effect: allow
    consensus: approvers.filter(u, u.tags.contains('\${tag.ops}')).count() >= 2
    condition: activity.kind == 'SIGN_TRANSACTION' && wallet.id == '\${wallet.main}'
  quoted: { effect: allow, condition: "wallet.id == '\${wallet[\\"bob's\\"]}' && activity.action == 'SIGN'" }
  passkeys:
    effect: allow
    consensus: credentials.any(c, c.type == 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR')
    condition: activity.kind == 'CREATE_WALLET'
  night: { effect: deny, condition: "activity.kind == 'CREATE_WALLET'", time: "CronSpan('0 22 * * *', '8h', 'UTC')" }
`

/** Definitions of a small organization, loaded as `policy test` loads them. */
export async function testDefinitions() {
  return loadDefinitions('defs', {
    env: {},
    vars: {},
    policiesOnly: true,
    readFolder: {
      list: async () => [{ name: 'a.yaml', kind: 'file' }],
      read: async () => new TextEncoder().encode(definitions),
    },
  })
}

export async function testWorld(): Promise<World> {
  const loaded = await testDefinitions()
  const world = worldOfDefinitions(loaded)
  if (!world) throw new TypeError(loaded.diagnostics.map(({ message }) => message).join('\n'))
  return world
}

/** Plays one file of scenarios in the test organization. */
export async function playText(text: string, options: SuiteOptions = {}) {
  return playSuite([createSource('t.test.yaml', text)], await testWorld(), options)
}

/** A diagnostic in one line: place, code, message, help. */
export function oneLine({ span, code, message, help }: Diagnostic): string {
  const { line, column } = positionAt(span.source, span.start)
  return `${line}:${column} ${code.replace('scenarios/', '')}: ${message}${help === undefined ? '' : ` (${help})`}`
}
