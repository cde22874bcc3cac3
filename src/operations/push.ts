/** Pushes definitions: a pipeline signs what it has checked, and organizations that are watched take it from the plan store. */
import { join } from 'node:path'
import { definitionsText, openPushes, type Push, pushText, type StorePlace } from '../../activities/index.ts'
import { loadDefinitions } from '../definitions/index.ts'
import { type Diagnostic, hasErrors, QuorateError } from '../diagnostics/index.ts'
import type { Plan } from '../plan/index.ts'
import { createApiKeyStamper } from '../stamp/index.ts'
import { changesSince, commitOf } from './commit-of.ts'
import { assertFolder, assertSameOrganization, type GivenValues } from './load-folder.ts'
import type { CheckText } from './lock-place.ts'
import type { Place } from './place.ts'
import { createKeptReader, keepWithLock } from './watch-plan.ts'

export interface PushRequest {
  readonly folder: string
  readonly place: Place
  readonly given: GivenValues
  readonly dataDir: string
  /** Where the plan store is, for a machine whose data folder does not say it. */
  readonly storePlace?: StorePlace | undefined
  /** Refuses a text that must not be passed on. */
  readonly check: CheckText
}

/** What was pushed. */
export interface Pushed extends Pick<Push, 'organizationId' | 'definitions' | 'pushedAt' | 'commit'> {
  readonly organization: string
  readonly files: readonly string[]
  /** Whether what was pushed is not as the commit has it; absent where it is, `not known` where Git does not tell. */
  readonly uncommitted?: NonNullable<Plan['uncommitted']>
  /** The public key that signed it. */
  readonly signedBy: string
}

/** Pushes a folder; undefined where its definitions have errors, which are told. Throws `apply/push-refused` beside a newer push. */
export async function pushFolder(
  { folder, place, given, dataDir, storePlace, check }: PushRequest,
  tell: (diagnostics: readonly Diagnostic[]) => void,
): Promise<Pushed | undefined> {
  assertP256(place)
  assertFolder(folder)
  const kept = await keepWithLock(folder, given)
  // What is pushed is what is checked: the folder is read once.
  const loaded = await loadDefinitions(kept.definitions.folder, {
    ...given,
    readFolder: createKeptReader(kept.definitions),
  })
  tell(loaded.diagnostics)
  if (hasErrors(loaded.diagnostics) || !loaded.desired) return undefined
  const next = 'correct `id:` in the definitions, or the organization id in the settings'
  assertSameOrganization(loaded.desired, place, { undone: 'written', next })
  const files = Object.entries(kept.definitions.files)
  for (const [name, text] of files) check(join(folder, name), Buffer.from(text, 'base64').toString('utf8'))
  check('the values given to the definitions', JSON.stringify(kept.given))

  const { digest } = definitionsText(kept.definitions)
  const commit = commitOf(folder)
  const changed = commit === undefined ? {} : await changesSince(folder)
  const push: Push = {
    format: 'quorate.push/1',
    organizationId: place.organizationId,
    definitions: digest,
    given: kept.given,
    pushedAt: new Date().toISOString(),
    ...(commit === undefined ? {} : { commit }),
  }
  const stamper = createApiKeyStamper(place.key)
  const { value: signature } = await stamper.stamp(pushText(push))
  await openPushes(join(dataDir, 'plans'), storePlace).put({ push, signature }, kept.definitions)
  const { given: _, format: __, ...told } = push
  const { organization } = loaded.desired
  return {
    ...told,
    organization,
    files: files.map(([name]) => name),
    signedBy: stamper.publicKey,
    ...changed,
  }
}

function assertP256({ key }: Place): void {
  const { curve = 'p256' } = key
  if (curve === 'p256') return
  throw new QuorateError('cli/usage', `expected the key that signs a push to be on P-256, got ${curve}`, {
    facts: { written: 'nothing' },
    next: 'give another key with --key-file, as for every command',
  })
}
