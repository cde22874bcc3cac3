/** Off a terminal no command computes in silence: as processes, on organizations large enough for it. */
import { join } from 'node:path'
import { onTestFinished, test } from 'vitest'
import { publicKeyOf } from '../bench/plan-made.ts'
import { startTestService } from '../service/harness.ts'
import { environmentOf, testFolder, writeFiles } from './harness.ts'
import { startCommand } from './started.ts'

const SIZE = 600

/** The clock of the commands runs a hundred times as fast: what takes a tenth of a second took ten by it, on any machine. */
const FAST_CLOCK = `--import=data:text/javascript,${encodeURIComponent(
  'const now = performance.now.bind(performance); performance.now = () => now() * 100',
)}`

const TAGS = ['ops', 'cfo', 'risk', 'a', 'b', 'c']

/** Definitions of so many users, policies and wallets; where `turned`, other people are asked for by each policy. */
function definitions(size: number, turned = false): string {
  const all = Array.from({ length: size }, (_, at) => at)
  const tagged = (tag: string, least: number) =>
    `approvers.filter(user, user.tags.contains('\${tag.${tag}}')).count() >= ${least}`
  const kinds = [
    (at: number) => `${tagged('ops', 1)} && ${tagged(at % 2 ? 'cfo' : 'risk', 1)}`,
    () => `${tagged('a', 5)} && ${tagged('b', 2)} && !approvers.any(user, user.tags.contains('\${tag.c}'))`,
    (at: number) => `approvers.any(user, user.id == '\${user.u${at}}') && ${tagged('ops', 1)}`,
  ]
  if (turned) kinds.reverse()
  const conditions = [
    (at: number) => `activity.action == 'SIGN' && wallet.id == '\${wallet.w${at}}' && eth.tx.value < ${at}000`,
    (at: number) => `activity.kind == 'SIGN_TRANSACTION' && wallet.label == 'w${at}'`,
    (at: number) =>
      `activity.resource == '${['POLICY', 'USER', 'PRIVATE_KEY', 'WALLET'][at % 4]}' && activity.action == 'CREATE'`,
  ]
  return [
    'organization: acme\nid: ${env.ACME_ORGANIZATION_ID}\ntags:\n',
    ...TAGS.map((tag) => `  ${tag}: {}\n`),
    'users:\n',
    ...all.map((at) => {
      const tags = TAGS.filter((_, n) => (at + n) % 7 === 0)
      return `  u${at}:\n    tags: [${tags}]\n    apiKeys:\n      laptop: { curve: P256, publicKey: ${publicKeyOf(at)} }\n`
    }),
    'wallets:\n',
    ...all.map((at) => `  w${at}:\n    accounts: []\n`),
    'policies:\n',
    ...all.map((at) => {
      const fields = {
        effect: at % 10 === 9 ? 'deny' : 'allow',
        consensus: at % 10 === 9 ? `approvers.count() < ${1 + (at % 3)}` : kinds[at % 3]!(at),
        condition: conditions[(at >> 2) % 3]!(at),
      }
      return `  p${at}: ${JSON.stringify(fields)}\n`
    }),
  ].join('')
}

/** Waits until a command that is not on a terminal says this. */
async function saysWhatItComputes(args: readonly string[], env: Readonly<Record<string, string>>, pattern: RegExp) {
  const started = startCommand(args, { env, home: testFolder() })
  onTestFinished(async () => {
    started.kill('SIGKILL')
    await started.ended
  })
  await started.says(pattern)
}

test('computing: `plan`, `who-can --indirect` and `policy compare` say what they compute', async () => {
  const service = await startTestService()
  onTestFinished(() => service.close())
  const folder = testFolder()
  const [defs, others] = [false, true].map((turned) =>
    writeFiles(join(folder, `turned-${turned}`), { 'a.yaml': definitions(SIZE, turned) }),
  )
  const env = { ...environmentOf(service, folder, service.root.privateKey), NODE_OPTIONS: FAST_CLOCK }
  await saysWhatItComputes(['plan', defs!], env, /^Computing who gains or loses power, for \d+ s$/m)
  await saysWhatItComputes(['who-can', '--as-code', defs!, '--indirect'], env, /^Computing .* by moves.*, for \d+ s$/m)
  await saysWhatItComputes(['policy', 'compare', defs!, others!], env, /^Computing who could .* by either, for \d+ s$/m)
})
