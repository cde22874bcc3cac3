import { resolve } from 'node:path'
import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import { type DatabaseFacts, readFolder, readSnapshot, restoreSnapshot, saveSnapshot } from '../../service/index.ts'
import type { CommandInput } from '../command.ts'
import { readDatabase, renderDatabase } from '../database-options.ts'
import { assertConfirmed, writeJson } from '../io.ts'
import { line } from '../screen.ts'
import { serviceFolder } from '../service-folder.ts'

/** Writes everything that a service on this machine keeps into one file. */
export async function saveToFile(input: CommandInput): Promise<ExitCode> {
  const { io, json, args } = input
  const file = resolve(args[0]!)
  const facts = await saveSnapshot(serviceFolder(input), file, readDatabase(input))
  if (json) writeJson(io, { file, ...facts })
  else {
    io.out(line`Saved ${renderFacts(facts)} into ${args[0]!}.\n`)
    io.say('It holds the master key and the root key: a reader of it has the wallets.\n')
  }
  return EXIT.done
}

/** Puts what a file holds into the folder of a service that does not run; what is there now is named and asked for. */
export async function restoreFromFile(input: CommandInput): Promise<ExitCode> {
  const { io, json, args } = input
  const file = resolve(args[0]!)
  const folder = serviceFolder(input)
  readSnapshot(file)
  const database = readDatabase(input)
  // Rows of PostgreSQL are never replaced.
  const replaced = database ? undefined : readFolder(folder)
  if (replaced) {
    io.say(line`This replaces ${renderFacts(replaced)} in ${folder}.\n`)
    await assertConfirmed(input, { question: 'Replace it?', otherwise: 'nothing was restored' })
  }
  const facts = await restoreSnapshot(folder, file, database)
  if (json) writeJson(io, { folder, ...facts, ...(replaced ? { replaced } : {}) })
  else
    io.out(
      line`Restored ${renderFacts(facts)} into ${database ? `${renderDatabase(database)}, its keys into ` : ''}${folder}.\n`,
    )
  return EXIT.done
}

function renderFacts({ organizationId, activities }: DatabaseFacts): string {
  return `organization ${organizationId} with ${activities} ${activities === 1 ? 'activity' : 'activities'}`
}
