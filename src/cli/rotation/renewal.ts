/** New public keys in definitions, after a rotation: as a patch, in their files, or as a commit. */
import { join } from 'node:path'
import type { RotationOrder, RotationProgress } from '../../../activities/index.ts'
import {
  assertCommittable,
  commitFiles,
  findRenewable,
  isRenewed,
  type Place,
  type Renewed,
  type RenewedFile,
  renewDefinitions,
  trackedOf,
} from '../../operations/index.ts'
import { findPlace } from '../background/connect.ts'
import type { CommandInput } from '../command.ts'
import { differenceOf } from '../difference.ts'
import { assertNoKeys, writeText } from '../files.ts'
import { givenValues } from '../given.ts'
import { line } from '../screen.ts'
import { textOf, usage } from './sink.ts'

/** Throws before anything is submitted where the change of the definitions could not be committed afterwards. */
export async function assertRenewable(
  input: CommandInput,
  place: Place,
  orders: readonly Pick<RotationOrder, 'key'>[],
): Promise<void> {
  const { options, settings } = input
  const folder = textOf(options, 'definitions')
  if (folder === undefined && (options['commit'] === true || options['write'] === true))
    throw usage('--write and --commit need the definitions', 'give --definitions FOLDER')
  if (folder === undefined || options['commit'] !== true) return
  const given = givenValues(input, place.embedded)
  const old = orders.map(({ key: { id, publicKey } }) => ({ id, publicKey }))
  const renewable = await findRenewable({ folder: join(folder), place, given, dataDir: settings.dataDir }, old)
  await assertCommittable(await committed(renewable))
}

/** A lock that Git does not know stays out of it. */
async function committed({ files, lock }: Renewed): Promise<readonly string[]> {
  return [...files.map(({ path }) => path), ...(lock === undefined ? [] : await trackedOf([lock]))]
}

/** What became of the definitions. */
export interface Rewritten {
  readonly files: readonly RenewedFile[]
  readonly commits: readonly string[]
}

/**
 * Puts the new public keys into the definitions that `--definitions` names: in their files with `--write`, committed with `--commit`,
 * otherwise as a patch. Undefined where no definitions are named.
 */
export async function renew(
  input: CommandInput,
  rotations: readonly RotationProgress[],
  { isQuiet = false } = {},
): Promise<Rewritten | undefined> {
  const { io, json, options, settings } = input
  const folder = textOf(options, 'definitions')
  if (folder === undefined) return undefined
  const rotated = rotations.filter(isRenewed)
  // A key that rotated itself vouches for the lock as the new one.
  const place = await findPlace(input, { acts: true })
  const given = givenValues(input, place.embedded)
  const common = { folder: join(folder), place, given, dataDir: settings.dataDir, rotated, check: assertNoKeys }
  const isCommitted = options['commit'] === true
  const isWritten = isCommitted || options['write'] === true
  // They may have been changed since the rotation began.
  if (isCommitted) await assertCommittable(await committed(await renewDefinitions(common)))
  const renewed = await renewDefinitions({ ...common, ...(isWritten ? { write: writeText } : {}) })
  const { files } = renewed
  const commits = isCommitted ? await commitFiles(await committed(renewed), messageOf(rotated)) : []
  if (!json && !isWritten)
    for (const { path, before, after } of files) io.out(differenceOf({ path, text: before }, after, io.style))
  for (const commit of json ? [] : commits) io.say(line`Committed as ${commit}.\n`)
  if (!json && !isQuiet && files.length === 0) {
    const which = rotated.length === 1 ? 'the old key' : 'an old key'
    io.say(line`No file of ${folder} names ${which}: where it comes from a variable, give that the new one.\n`)
  }
  return { files, commits }
}

/** What `--json` says of it. */
export function rewrittenJson(rewritten: Rewritten | undefined): object {
  if (!rewritten) return {}
  const { files, commits } = rewritten
  return { definitions: files.map(({ path }) => path), ...(commits.length > 0 ? { commits } : {}) }
}

/** Names are in the body where there are several: a title of Git's is one short line. */
function messageOf(rotated: readonly RotationProgress[]): string {
  const [only] = rotated
  const one = line`definitions: \`${only!.key}\` of ${only!.user} was rotated`
  const title = rotated.length === 1 ? one : line`definitions: ${rotated.length} API keys were rotated`
  const rows = rotated.map(
    ({ user, key, old, new: made }) => line`${key} of ${user}: ${old.publicKey} -> ${made!.publicKey}`,
  )
  return [title, '', ...rows, ''].join('\n')
}
