import { resolve } from 'node:path'
import type { ApplyProgress } from '../../../activities/index.ts'
import { votesOn } from '../../authority/index.ts'
import { DATA_DIR } from '../../config/index.ts'
import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import { readActual } from '../../live/index.ts'
import {
  type ApplyHandle,
  assertAllowed,
  type CarryOutEvent,
  carryOut,
  castVote,
  hasWork,
  nudgeApply,
  type Place,
  reader,
  type Survey,
  submitter,
  surveyDefinitions,
} from '../../operations/index.ts'
import { hasChanges } from '../../plan/index.ts'
import type { Wire } from '../../protocol/index.ts'
import { loadPrivateKey } from '../../stamp/index.ts'
import { backgroundStart, bootstrapKey, findPlace } from '../background/connect.ts'
import { type BackgroundStatus, ensureBackground } from '../background/index.ts'
import { withApplies } from '../background/temporal.ts'
import type { CommandInput } from '../command.ts'
import { type DemoKey, demoKey } from '../demo-keys.ts'
import { writeJson } from '../io.ts'
import { assertNoneAbove } from '../place-of.ts'
import { planAndShow, saveKeylessLock } from '../planning.ts'
import { line } from '../screen.ts'
import { writeValues } from '../values.ts'
import { type ActivityView, renderActivity } from '../views/activity.ts'
import { renderInForce } from '../views/operator.ts'
import { showPlan } from '../views/plan.ts'
import { createProgressView, renderResult } from '../views/progress.ts'
import { findKnown, type KnownToVoter, viewForVoter } from './review.ts'

/**
 * Brings everything up. With a folder: plans it, applies it, approves as a demo approver where the embedded
 * organization waits for one, and shows that nothing is left to do.
 */
export async function up(input: CommandInput): Promise<ExitCode> {
  const { io, json, args, settings } = input
  const folder = args[0]
  const survey: Survey = folder === undefined ? { vars: [], quorum: [] } : surveyDefinitions(folder)
  if (folder !== undefined) await assertNoneAbove(input, folder)
  io.say('Bringing up the service, Temporal and a worker …\n')
  const status = await ensureBackground(
    {
      ...(await backgroundStart(settings)),
      ...(survey.rootUser === undefined ? {} : { rootUserName: survey.rootUser }),
      ...(survey.rootKey === undefined ? {} : { rootKeyName: survey.rootKey }),
      ...(survey.organization === undefined ? {} : { organizationName: survey.organization }),
    },
    { announce: (text) => io.say(line`${text}\n`) },
  )
  io.say(renderUp(status) + renderInForce(status.operator))
  if (folder === undefined) {
    if (json) writeJson(io, status)
    return EXIT.done
  }
  const approvers = status.embeddedService ? await makeDemoValues(input, survey, status) : []
  // What comes up is applied as its root user, not as the user who is logged in here.
  const key = settings.baseUrl === undefined ? (settings.key ?? bootstrapKey(settings.dataDir)) : settings.key
  const place = await findPlace({ ...input, settings: { ...settings, ...(key && { key }) } }, { acts: true })
  const applied = await applyFolder(input, { folder, place, approvers })
  if (applied !== EXIT.done) return applied
  io.say(renderNext(folder, { approvers, where: whereOf(input) }))
  return showNothingLeft(input, { folder, place })
}

/**
 * Gives the definitions what they want from outside: the embedded organization's id, its root key, and for every other
 * `${var.NAMEPublicKey}` a demo key of that name. Values that the environment or `--var` give stay theirs. Members of the
 * root quorum are first among the approvers: their votes count most often.
 */
async function makeDemoValues(
  { settings }: CommandInput,
  survey: Survey,
  status: BackgroundStatus,
): Promise<readonly DemoKey[]> {
  const { dataDir } = settings
  const suffix = 'PublicKey'
  const names = survey.vars.filter((name) => name.endsWith(suffix)).map((name) => name.slice(0, -suffix.length))
  const root = (await loadPrivateKey(bootstrapKey(dataDir))).publicKey
  const approvers = await Promise.all(
    names.filter((name) => name !== survey.rootUser).map((name) => demoKey(dataDir, name)),
  )
  const keys = [...approvers.map(({ name, publicKey }) => [`${name}${suffix}`, publicKey])]
  if (survey.rootUser !== undefined) keys.push([`${survey.rootUser}${suffix}`, root])
  writeValues(dataDir, {
    env: survey.idVariable === undefined ? {} : { [survey.idVariable]: status.organizationId },
    vars: Object.fromEntries(keys),
  })
  const rank = ({ name }: DemoKey) => (survey.quorum.includes(name) ? 0 : 1)
  return approvers.toSorted((one, other) => rank(one) - rank(other))
}

interface Scene {
  readonly folder: string
  readonly place: Place
}

/** Plans and applies; whenever only people are waited for, shows what they see and approves as each demo approver. */
async function applyFolder(
  input: CommandInput,
  { folder, place, approvers }: Scene & { readonly approvers: readonly DemoKey[] },
): Promise<ExitCode> {
  const { io } = input
  const planned = await planAndShow(input, { folder, place, client: reader(place) })
  if (!planned) return EXIT.error
  const { plan } = planned
  if (!hasChanges(plan)) {
    io.say(line`\nThere is nothing to do: ${folder} is what lives.\n`)
    return EXIT.done
  }
  io.say(line`\nThe plan for ${folder}:\n\n`)
  showPlan({ io, json: false }, plan)
  assertAllowed(plan, { isShown: true })
  if (!hasWork(plan)) return EXIT.done
  io.say('\nApplying it:\n')
  const showProgress = createProgressView({ ...io, live: false }, place)
  const showResult = (progress: ApplyProgress, heading = '') =>
    io.say(line`\n${heading}` + renderResult(progress, io.style, place.now()))
  const tell = (event: CarryOutEvent) => {
    if (event.kind === 'progress') showProgress(event.progress, event.before, event.plan)
    if (event.kind === 'rested') showResult(event.progress)
    if (event.kind !== 'inside rested' || !event.outcome.progress) return
    showResult(event.outcome.progress, line`${io.style.strong(event.outcome.plan.organization.name)}\n`)
  }
  const isEnough = async (progress: ApplyProgress, handle: ApplyHandle) => {
    if ((await approveAsDemo(input, { place, approvers, progress })) === 'nobody left') return !io.terminal
    await nudgeApply(handle)
    return false
  }
  return withApplies(input, place, async (applies) => {
    const { exit } = await carryOut({ plan, applies, tell, isEnough })
    return exit
  })
}

/**
 * Votes once for every activity that still waits, as the first demo approver who has not and whose vote counts. One that has
 * been decided meanwhile needs only to be looked at again; one that no demo approver can move any further waits for somebody else.
 */
async function approveAsDemo(
  input: CommandInput,
  {
    place,
    approvers,
    progress,
  }: { readonly place: Place; readonly approvers: readonly DemoKey[]; readonly progress: ApplyProgress },
): Promise<'decided' | 'nobody left'> {
  const { io } = input
  const known = await findKnown(input, place)
  let outcome: 'decided' | 'nobody left' = 'decided'
  for (const { activityId } of progress.batches.filter(({ state }) => state === 'waiting')) {
    const { activity } = await reader(place).query('get_activity', { activityId: activityId! })
    const { approvals } = votesOn(activity, place.now())
    const hasVoted = (key: DemoKey) => approvals.some(({ publicKey }) => publicKey === key.publicKey)
    if (activity.status !== 'ACTIVITY_STATUS_CONSENSUS_NEEDED') continue
    const open = approvers.filter((key) => !hasVoted(key))
    const found = await whoseVoteCounts(activity, { approvers: open, place, known })
    if (!found) {
      outcome = 'nobody left'
      continue
    }
    io.say(line`\nWhat ${found.approver.name} sees, and approves:\n`)
    io.say(renderActivity(found.seen, io.style, place.now()))
    const client = submitter({ ...place, key: found.approver })
    await castVote(client, activity.fingerprint, { vote: 'approve', now: place.now() })
  }
  return outcome
}

/** The first approver whose approval counts, or may where that is not worked out, and what they see. */
async function whoseVoteCounts(
  activity: Wire.Activity,
  {
    approvers,
    place,
    known,
  }: { readonly approvers: readonly DemoKey[]; readonly place: Place; readonly known: KnownToVoter },
): Promise<{ readonly approver: DemoKey; readonly seen: ActivityView } | undefined> {
  for (const approver of approvers) {
    const client = reader({ ...place, key: approver })
    const seen = await viewForVoter(activity, { client, place, known, actual: await readActual(client) })
    if (seen.review?.standing?.mine !== 'does not count') return { approver, seen }
  }
  return undefined
}

/** The proof: planned again, nothing is left. The lock file is written from what is live now. */
async function showNothingLeft(input: CommandInput, { folder, place }: Scene): Promise<ExitCode> {
  const planned = await planAndShow(input, { folder, place, client: reader(place) })
  if (!planned) return EXIT.error
  await saveKeylessLock(planned, place)
  showPlan(input, planned.plan)
  return hasChanges(planned.plan) ? EXIT.partial : EXIT.done
}

function renderUp({ pid, baseUrl, organizationId, temporalAddress }: BackgroundStatus): string {
  return line`  service       ${baseUrl}\n  organization  ${organizationId}\n  Temporal      ${temporalAddress}\n  background    pid ${pid}, stop it with \`quorate down\`\n`
}

/** What tells other commands the same data folder, where the command line alone named it. */
function whereOf({ settings: { dataDir }, environment }: CommandInput): string {
  const usual = resolve(environment['QUORATE_DATA_DIR'] || DATA_DIR)
  return dataDir === usual ? '' : ` --data-dir ${dataDir}`
}

function renderNext(
  folder: string,
  { approvers, where }: { readonly approvers: readonly DemoKey[]; readonly where: string },
): string {
  const as = approvers[0] ? ` --key-file ${approvers[0].file}` : ''
  return line`
What to try next:
  change something in ${folder}, then
    npx quorate plan ${folder}${where}
    npx quorate apply ${folder} --yes${where}
  see what waits, and approve it as somebody else
    npx quorate activities --waiting --all${where}
    npx quorate approve CODE${as}${where}
  stop everything; the state is kept
    npx quorate down${where}

And planned once more:
`
}
