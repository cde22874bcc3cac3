import { existsSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { createPlanStore, type MadeByRuns, readMade, withRejections } from '../../activities/index.ts'
import { planWithForecast } from '../analysis/index.ts'
import type { QueryClient } from '../client/index.ts'
import {
  type LoadedDefinitions,
  type LoadOptions,
  loadDefinitions,
  lockText,
  readLock,
  writeLock,
} from '../definitions/index.ts'
import { QuorateError, suggest } from '../diagnostics/index.ts'
import { creatorsOf, inside, kindsMentioned, readActual } from '../live/index.ts'
import { type Place, planInside, wantedOf, withoutTombstones } from '../operations/index.ts'
import { type Lock, type Plan, withInside } from '../plan/index.ts'
import type { Actual, Desired } from '../resources/index.ts'
import { asksAgain, type CommandInput } from './command.ts'
import { assertNoKeys } from './files.ts'
import { isVouchedFor, signLock } from './lock-signature.ts'
import { parseVars, readValues } from './values.ts'
import { showDiagnostics } from './views/diagnostics.ts'
import { showReading } from './views/reading.ts'

/** A plan with what it was made from. */
export interface Planned {
  readonly plan: Plan
  readonly desired: Desired
  readonly actual: Actual
  readonly lock: Lock
  /** Where the lock stands: beside the definitions, or in the data folder for the embedded organization, which is nobody else's. */
  readonly lockFolder: string
  readonly made: MadeByRuns
  /** Of the lock as it was read, where it is the same still: signed anew, it would be another file each time. */
  readonly signature?: string
}

/** Throws `cli/no-definitions` where no folder is. */
export function assertFolder(folder: string): void {
  if (existsSync(folder) && statSync(folder).isDirectory()) return
  throw new QuorateError('cli/no-definitions', `expected \`${folder}\` to be a folder of definitions`, {
    next: 'name the folder, or make one with `quorate init FOLDER`',
  })
}

/** Loads a folder of definitions; shows what is wrong with them, and gives nothing when any of it is an error. */
export async function loadFolder(input: CommandInput, folder: string, embedded: boolean): Promise<LoadedDefinitions> {
  assertFolder(folder)
  return loadDefinitions(folder, outsideOf(input, embedded))
}

/** The values of `${env.…}` and `${var.…}`: what was given, over what `up` made for the embedded organization. */
export function outsideOf(
  { settings, environment, options }: CommandInput,
  embedded: boolean,
): Pick<LoadOptions, 'env' | 'vars'> {
  const made = embedded ? readValues(settings.dataDir) : { env: {}, vars: {} }
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined))
  return {
    env: { ...made.env, ...given },
    vars: { ...made.vars, ...parseVars((options['var'] as string[] | undefined) ?? []) },
  }
}

/** Definitions and live state become a plan with forecasts; undefined when the definitions have errors, which are shown. */
export async function planFolder(
  input: CommandInput,
  { folder, place, client }: { readonly folder: string; readonly place: Place; readonly client: QueryClient },
): Promise<Planned | undefined> {
  const counted = countQueries(client)
  const stop = showReading(input.io, () => counted.queries)
  try {
    return await planRead(input, { folder, place, client: counted })
  } finally {
    stop()
  }
}

async function planRead(
  input: CommandInput,
  { folder, place, client }: { readonly folder: string; readonly place: Place; readonly client: CountedClient },
): Promise<Planned | undefined> {
  const loaded = await loadFolder(input, folder, place.embedded)
  if (!showDiagnostics(input, loaded.diagnostics) || !loaded.desired) return undefined
  const { desired } = loaded
  if (desired.organizationId !== place.organizationId) {
    throw new QuorateError('cli/other-organization', 'the definitions belong to another organization', {
      facts: { definitions: desired.organizationId, settings: place.organizationId, submitted: 'nothing' },
      next: 'correct `id:` in the definitions, or the organization id in the settings',
    })
  }
  const lockFolder = place.embedded ? input.settings.dataDir : folder
  const oldLock = await readLock(lockFolder)
  if (!showDiagnostics(input, oldLock.diagnostics)) return undefined
  const subOrganizations = wantedOf(desired, oldLock.lock)
  const read = await readActual(client, {
    mentioned: kindsMentioned(desired, oldLock.lock[desired.organizationId]),
    ...(subOrganizations.length > 0 ? { subOrganizations } : {}),
  })
  const actual = actingAs(read, input.options['as'])
  const made = await readMade(createPlanStore(join(input.settings.dataDir, 'plans')), {
    clientOf: (organizationId) => (organizationId === place.organizationId ? client : inside(client, organizationId)),
    baseUrl: place.baseUrl,
  })
  // Nobody else writes into the data folder.
  const isLockVouchedFor = place.embedded || isVouchedFor(oldLock, actual)
  const creators = await creatorsOf(client, actual, isLockVouchedFor ? oldLock.lock : {})
  const common = { baseUrl: place.baseUrl, allow: allowances(input), now: new Date().toISOString() }
  const own = planWithForecast(
    {
      ...common,
      desired,
      ...withoutTombstones({ actual, desired, oldLock: oldLock.lock }),
      lockPlaces: oldLock.places,
      made: made.byOrganization.get(actual.organizationId) ?? [],
      isLockVouchedFor,
      creators,
    },
    { folder: relative(process.cwd(), folder).replaceAll(sep, '/') || '.' },
  )
  const within = await planInside({
    ...common,
    desired,
    actual,
    oldLock: oldLock.lock,
    lockPlaces: oldLock.places,
    made: made.byOrganization,
    isLockVouchedFor,
    lock: own.lock,
    creators,
    place,
    client,
    askAgain: asksAgain(input),
  })
  if (!showDiagnostics(input, [...own.diagnostics, ...within.diagnostics])) return undefined
  const { requestsPerSecond: perSecond } = input.settings
  const asked = await withRejections(client, own.plan, { askAgain: asksAgain(input) })
  const plan = withInside(asked, within.plans, {
    reads: client.queries,
    ...(perSecond === undefined ? {} : { perSecond }),
  })
  const signature = isLockVouchedFor && isSame(within.lock, oldLock.lock) ? oldLock.signature : undefined
  const kept = signature === undefined ? {} : { signature }
  return { plan, desired, actual, lock: within.lock, lockFolder, made, ...kept }
}

/** The organization as another user would find it: with `--as`, a key that may only read says what a plan means for the one that applies it. */
function actingAs(actual: Actual, userName: unknown): Actual {
  if (typeof userName !== 'string') return actual
  const user = actual.resources.find(({ kind, name }) => kind === 'user' && name === userName)
  const [key] = actual.resources
    .filter(({ kind, parentId }) => kind === 'apiKey' && parentId === user?.id)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  if (user?.id === undefined || key === undefined) {
    const names = actual.resources.filter(({ kind }) => kind === 'user').map(({ name }) => name)
    const meant = suggest(userName, names)
    throw new QuorateError('cli/usage', `expected --as to be a user with an API key, got \`${userName}\``, {
      next: meant.length > 0 ? `did you mean ${meant.map((name) => `\`${name}\``).join(' or ')}?` : 'name a live user',
    })
  }
  return { ...actual, actor: { userId: user.id, userName, publicKey: String(key.fields['publicKey']) } }
}

/** Writes which live thing each name means beside the definitions, signed, once nothing is left to do. */
export async function saveLock({ lockFolder, lock, made, signature: kept }: Planned, place: Place): Promise<void> {
  const signature = place.embedded ? undefined : (kept ?? (await signLock(lock, place)))
  await writeLock(lockFolder, lock, { check: assertNoKeys, signature })
  await made.settle(Object.keys(lock))
}

function isSame(one: Lock, other: Lock): boolean {
  return lockText(one) === lockText(other)
}

/** A client that says how many queries it was asked. */
type CountedClient = QueryClient & { readonly queries: number }

function countQueries(client: QueryClient): CountedClient {
  const counted = {
    ...client,
    queries: 0,
    query: ((name, request, options) => {
      counted.queries++
      return client.query(name, request, options)
    }) as QueryClient['query'],
  }
  return counted
}

/** The bypasses given by `--allow-delete` and `--allow …`. */
function allowances({ options }: CommandInput): readonly string[] {
  return [...(options['allowDelete'] ? ['delete'] : []), ...((options['allow'] as string[] | undefined) ?? [])]
}
