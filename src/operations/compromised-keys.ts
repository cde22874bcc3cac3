/**
 * Public keys that an incident has marked: no plan may name one, nor may a reconciler put one back. Marks are kept in the data folder, and
 * in the plan store where machines share that.
 */
import { join } from 'node:path'
import { type CompromisedKey, createPlanStore, readStorePlace } from '../../activities/index.ts'
import { type Diagnostic, diagnostic } from '../diagnostics/index.ts'
import { ensurePrivateFolder, readPrivate, writePrivate } from '../local/index.ts'
import type { Desired, SubOrganization } from '../resources/index.ts'

const fileOf = (dataDir: string) => join(dataDir, 'compromised.json')

function readMarks(dataDir: string): readonly CompromisedKey[] {
  const text = readPrivate(fileOf(dataDir))
  return text === undefined ? [] : (JSON.parse(text) as readonly CompromisedKey[])
}

/** The plan store, where machines share it. */
function sharedStore(dataDir: string) {
  const folder = join(dataDir, 'plans')
  return readStorePlace(folder) ? createPlanStore(folder) : undefined
}

/** All marks: those of this data folder, and those that other machines share. */
export async function compromisedKeys(dataDir: string): Promise<readonly CompromisedKey[]> {
  const shared = (await sharedStore(dataDir)?.compromised.list()) ?? []
  return [...readMarks(dataDir), ...shared]
}

/** Gives other machines the marks of this data folder. Whether machines share its plan store. */
export async function shareMarks(dataDir: string): Promise<boolean> {
  const store = sharedStore(dataDir)
  if (!store) return false
  for (const mark of readMarks(dataDir)) await store.compromised.mark(mark)
  return true
}

/** The marked keys of a user who was cut off before: those of this data folder, and those that other machines share. */
export function compromisedOf(
  dataDir: string,
  userId: string,
): { readonly here: readonly string[]; readonly shared: Promise<readonly string[]> } {
  const ofUser = (marks: readonly CompromisedKey[]) =>
    marks.flatMap((one) => (one.userId === userId ? [one.publicKey] : []))
  const list = async () => ofUser((await sharedStore(dataDir)?.compromised.list()) ?? [])
  return { here: ofUser(readMarks(dataDir)), shared: list() }
}

/** Marks a key in the data folder, once. */
export function markCompromised(dataDir: string, publicKey: string, nowMs: number, userId?: string): void {
  const marks = readMarks(dataDir)
  const key = publicKey.toLowerCase()
  if (marks.some((one) => one.publicKey === key)) return
  ensurePrivateFolder(dataDir)
  const all = [...marks, { publicKey: key, markedAt: new Date(nowMs).toISOString(), ...(userId ? { userId } : {}) }]
  writePrivate(fileOf(dataDir), `${JSON.stringify(all, undefined, 2)}\n`)
}

/** An error for each definition that names a marked key, at its place. */
export function compromisedIn(
  desired: Desired | SubOrganization,
  compromised: readonly CompromisedKey[],
): readonly Diagnostic[] {
  const marks = new Map(compromised.map((one) => [one.publicKey, one.markedAt]))
  if (marks.size === 0) return []
  const own = desired.resources.flatMap(({ kind, address, fields, span }) => {
    const { publicKey } = fields
    const markedAt = kind === 'apiKey' && typeof publicKey === 'string' ? marks.get(publicKey.toLowerCase()) : undefined
    if (markedAt === undefined || span === undefined) return []
    const message = `the public key of \`${address}\` was marked compromised at ${markedAt}`
    return [diagnostic('cli/compromised-key', message, span, { help: 'put a new key in its place, or take it out' })]
  })
  const inside = 'subOrganizations' in desired ? (desired.subOrganizations ?? []) : []
  return [...own, ...inside.flatMap((one) => compromisedIn(one, compromised))]
}
