import { existsSync, lstatSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createPlanStore } from '../../../activities/index.ts'
import { type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import {
  type ApplyDoor,
  type ApplyEvent,
  applyFolder,
  applySaved,
  type CarriedOut,
  type InsideOutcome,
  type LockKept,
  type LockNews,
  type Place,
  planFolder,
} from '../../operations/index.ts'
import { digestInside, type Plan, readPlan } from '../../plan/index.ts'
import { findPlace } from '../background/connect.ts'
import { assertServiceHere } from '../background/index.ts'
import { carrierOf, withApplies } from '../background/temporal.ts'
import { asksAgain, type CommandInput } from '../command.ts'
import { assertNoKeys, writePrivate } from '../files.ts'
import { loadGivenFolder } from '../given.ts'
import { jsonText } from '../io.ts'
import { looking } from '../looking.ts'
import { findPlaceOf } from '../place-of.ts'
import { planRequest, showingPlan } from '../planning.ts'
import { line } from '../screen.ts'
import { createEvents, type EventStream } from '../views/events.ts'
import { showPlan } from '../views/plan.ts'
import {
  createProgressView,
  openInWords,
  renderAdvice,
  renderRest,
  renderWaiting,
  withNeeds,
} from '../views/progress.ts'
import { withReasons } from '../vote-reasons.ts'
import { createPatience, type Patience } from '../waiting.ts'
import { readText } from './show.ts'

/** Carries out a saved plan and nothing else, or plans a folder and carries that out. */
export async function apply(input: CommandInput): Promise<ExitCode> {
  const events = input.options['events'] ? createEvents(input.io, Date.now) : undefined
  // Beside events nothing else goes to stdout.
  const given = events ? { ...input, json: false } : input
  try {
    const named = given.args[0] ?? '.'
    assertThere(named)
    if (isFile(named)) await assertServiceHere(given, { organizationId: readPlan(readText(named)).organization.id })
    const place = await (isSaved(named) ? findPlace(given, { acts: true }) : findPlaceOf(given, named, { acts: true }))
    const exit = await carry(given, { place, named, events })
    events?.ended(exit)
    return exit
  } catch (error) {
    events?.failed(error)
    throw error
  }
}

interface Target {
  readonly place: Place
  /** A folder, or the file of a saved plan. */
  readonly named: string
  readonly events: EventStream | undefined
}

async function carry(input: CommandInput, { place, named, events }: Target): Promise<ExitCode> {
  const patience = createPatience(input, { what: 'the apply', next: FOLLOW, carrier: carrierOf(input) })
  const door = openDoor(input, { place, patience, tell: createShow(input, { events, patience, now: place.now }) })
  const requestFor = (folder: string) => planRequest(input, { folder, place })
  if (!isSaved(named)) return applyFolder(door, requestFor(named))
  assertNothingPlanned(input)
  const { dataDir } = input.settings
  const saved = isFile(named) ? readPlan(readText(named)) : await keptPlan(dataDir, named.replace(PLAN, '$1'))
  await assertSameValues(input, saved, place)
  return applySaved(door, { saved, askAgain: asksAgain(input), requestFor, dataDir })
}

/** A plan of the plan store with what it changes inside sub-organizations, which is kept beside it. */
async function keptPlan(dataDir: string, digest: string): Promise<Plan> {
  const store = createPlanStore(join(dataDir, 'plans'))
  const plan = await store.getPlan(digest)
  const subOrganizations = await store.getInside(plan)
  // Where some were only compared, which are not kept, it is not the whole plan.
  return digestInside(subOrganizations) === plan.insideDigest ? { ...plan, subOrganizations } : plan
}

/** The options that are heard while a plan is made, by the name under which they are read. */
const OF_PLANNING = { allowDelete: '--allow-delete', allow: '--allow', target: '--target' } as const

/** Throws `cli/usage` for an option that would make another plan of a saved one, which is carried out as it was reviewed. */
function assertNothingPlanned({ options }: CommandInput): void {
  const given = Object.entries(OF_PLANNING).flatMap(([name, flag]) => (options[name] === undefined ? [] : [flag]))
  if (given.length === 0) return
  const all = given.join(' and ')
  throw new QuorateError('cli/usage', `a saved plan is applied as it is, and ${all} would make another of it`, {
    facts: { submitted: 'nothing' },
    next: `give ${all} to \`quorate plan FOLDER --out FILE\` and apply that, or to \`quorate apply FOLDER\``,
  })
}

/** Throws `cli/usage` where `--var` gives other definitions than those of the plan: its values are in it already. */
async function assertSameValues(input: CommandInput, { folder, definitionsDigest }: Plan, place: Place): Promise<void> {
  if (input.options['var'] === undefined) return
  const loaded =
    folder !== undefined && existsSync(folder) ? await loadGivenFolder(input, folder, place.embedded) : undefined
  if (loaded?.desired?.digest === definitionsDigest) return
  throw new QuorateError('cli/usage', 'the values of a saved plan are in it, and --var changes none of them', {
    facts: {
      ...(folder === undefined ? {} : { folder }),
      found: loaded ? 'definitions that are not those of the plan with these values' : 'no definitions to compare',
      submitted: 'nothing',
    },
    next: 'apply the plan without --var; for other values give them to `quorate plan FOLDER --out FILE`, and apply that',
  })
}

/** What to do with an apply that was followed long enough. */
const FOLLOW = 'follow it with `quorate status --follow`, or run the same command again: nothing is submitted twice'

/** What an apply asks of a terminal, or of a log. */
function openDoor(
  input: CommandInput,
  { place, tell, patience }: { readonly patience: Patience } & Pick<ApplyDoor, 'place' | 'tell'>,
): ApplyDoor {
  const { io, options } = input
  const otherwise = '`quorate status --follow` follows it, `quorate status --cancel` stops it at the next safe point.'
  return {
    place,
    tell,
    plan: (request) => showingPlan(input, (told) => planFolder(request, told)),
    isPlanShown: !input.json && options['events'] !== true,
    confirm: (plan) => confirm(input, plan),
    withApplies: (work) =>
      withApplies(input, place, (applies, answers) => {
        patience.asking(answers)
        return looking(io, { what: 'the apply', otherwise, patience }, () => work(applies))
      }),
    // Followed to its end on a terminal, to the first wait for a person anywhere else.
    isEnough: () => !io.terminal,
    isDetached: options['detach'] === true,
    check: assertNoKeys,
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}

/** Throws `cli/no-definitions` where neither a file nor a folder is, before the API is asked anything. */
function assertThere(named: string): void {
  if (lstatSync(named, { throwIfNoEntry: false }) || isSaved(named)) return
  throw new QuorateError('cli/no-definitions', `expected \`${named}\` to be a saved plan or a folder of definitions`, {
    facts: { submitted: 'nothing' },
    next: 'name a plan that `quorate plan --out` has written, or a folder of definitions',
  })
}

/** The digest of a plan as `quorate watch list` shows it. */
const PLAN = /^sha256:([0-9a-f]{64})$/

/** A plan in a file, or one that a watch has proposed, by its digest. */
function isSaved(named: string): boolean {
  return isFile(named) || (PLAN.test(named) && !existsSync(named))
}

async function confirm({ io, options }: CommandInput, plan: Plan): Promise<void> {
  if (options['yes'] || (io.terminal && (await io.ask(`Apply this plan to ${plan.organization.name}?`)))) return
  throw new QuorateError('cli/not-confirmed', 'the plan was not confirmed, and nothing was submitted', {
    next: io.terminal
      ? 'run it again and answer yes'
      : 'save the plan with `quorate plan --out FILE` and apply that, or give --yes',
  })
}

/** Shows what an apply tells: as text, as one JSON object at the end, or as events. */
function createShow(
  input: CommandInput,
  {
    events,
    patience,
    now,
  }: { readonly events: EventStream | undefined; readonly patience: Patience; readonly now: Place['now'] },
): ApplyDoor['tell'] {
  const { io, json } = input
  const talks = !json && !events
  const progressView = createProgressView(io, { now, patience })
  const showProgress: typeof progressView = (progress, before, plan) => {
    // Off a terminal an apply that waits is followed no further: its result, which comes next, says all of it.
    if (talks && !io.terminal && progress.state === 'waiting') return
    if (!events) return progressView(progress, before, plan)
    patience.look(() => openInWords(progress))
    events.progress(progress, before)
  }
  let isPlanAbove = false
  const rested = () => ({ style: io.style, now: now(), carrier: carrierOf(input) })
  const showRested = (plan: Plan, ended: CarriedOut['progress'], name?: string) => {
    const progress = withReasons(ended, input.settings.dataDir)
    const heading = name === undefined ? '' : line`${io.style.strong(name)}\n`
    if (talks) io.out((isPlanAbove ? '\n' : '') + heading + renderRest(progress, plan, rested()))
    else if (progress.state === 'waiting') io.say(renderWaiting(progress, plan, rested()))
    io.say(renderAdvice(progress))
  }
  const showInside = ({ plan, progress, isPending }: InsideOutcome) => {
    const { name } = plan.organization
    if (progress?.error && progress.batches.length === 0) io.say(line`${name}: ${progress.error.message}\n`)
    else if (progress) showRested(plan, progress, name)
    else if (isPending) io.say(line`${name}: begins by itself, once it is made\n`)
    else io.say(line`${name}: not begun, because it was not made\n`)
  }
  return (event: ApplyEvent) => {
    switch (event.kind) {
      case 'planned':
        events?.planned(event.plan)
        // A saved plan was shown when it was saved.
        if (talks && !isFile(input.args[0] ?? '.')) {
          showPlan(input, event.plan)
          isPlanAbove = true
        }
        return
      case 'progress':
        return showProgress(event.progress, event.before, event.plan)
      case 'rested':
        return showRested(event.plan, event.progress)
      case 'inside progress':
        return events?.inside(event.plan, event.progress, event.before)
      case 'inside rested':
        return showInside(event.outcome)
      case 'detached':
        io.say(
          'The apply goes on in the background; follow it with `quorate status --follow`. Once it is done, `quorate apply FOLDER` writes the lock, and submits nothing more.\n',
        )
        return
      case 'done elsewhere':
        io.say('Planned again: somebody else has made these changes meanwhile, and nothing is left to do.\n')
        return
      case 'carried out':
        return writeResult(input, event.plan, event.result)
      case 'planned again':
        if (talks) showPlan(input, event.plan)
        return
      case 'lock written':
        io.say(sayLockNews(event.news))
        return
      case 'lock kept':
        io.say(sayLockKept(event))
        return
      default:
        return event satisfies never
    }
  }
}

function sayLockNews({ handedBack, renamed }: LockNews): string {
  const back = handedBack.length === 0 ? '' : line`Handed back, live and managed no longer: ${handedBack.join(', ')}.\n`
  const names = renamed.map(({ from, to }) => line`The lock has ${to} now for what it had as ${from}.\n`)
  return back + names.join('')
}

const KEPT: Readonly<Record<LockKept['why'], string>> = {
  absent: 'that folder is not here',
  unplanned: 'the definitions there could not be planned again',
  changed: 'the definitions there are not those of this plan',
  left: 'something is left to do or to decide there',
}

function sayLockKept({ folder, why, handedBack }: LockKept): string {
  const kept =
    folder === undefined
      ? 'The lock was not written: the plan names no folder.'
      : line`The lock in ${folder} was not written: ${KEPT[why]}.`
  const still = handedBack.length === 0 ? '' : line` Not handed back, and managed as before: ${handedBack.join(', ')}.`
  const next =
    why === 'absent' || folder === undefined
      ? 'Where the definitions are, `quorate apply FOLDER` writes it.'
      : line`\`quorate plan ${folder}\` says what is left.`
  return [kept, still, ' ', next, '\n'].join('')
}

function writeResult({ io, json, options }: CommandInput, plan: Plan, result: CarriedOut | undefined): void {
  const organizations = (result?.inside ?? []).map(({ plan: inside, progress }) => ({
    organization: inside.organization.name,
    organizationId: inside.organization.id,
    apply: progress ? withNeeds(progress, inside) : null,
  }))
  const text = jsonText({
    ...(result ? withNeeds(result.progress, result.plan) : { planDigest: plan.digest, state: 'done', batches: [] }),
    ...(organizations.length > 0 ? { subOrganizations: organizations } : {}),
  })
  if (json) io.out(text)
  if (typeof options['jsonInto'] === 'string') writePrivate(options['jsonInto'], text)
}
