import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import { copyStore, migrateStore } from '../../service/index.ts'
import type { CommandInput } from '../command.ts'
import { readDatabase, renderDatabase } from '../database-options.ts'
import { writeJson } from '../io.ts'
import { line } from '../screen.ts'
import { serviceFolder } from '../service-folder.ts'

/** Brings the rows of the service to the schema of this version. */
export async function migrate(input: CommandInput): Promise<ExitCode> {
  const { io, json } = input
  const [folder, database] = [serviceFolder(input), readDatabase(input)]
  const migrations = await migrateStore(folder, database, Date.now())
  if (json) writeJson(io, { migrations })
  else {
    const where = database ? renderDatabase(database) : folder
    if (migrations.length === 0) io.out(line`${where} has the newest schema; nothing was changed.\n`)
    else io.out(line`Brought ${where} to the newest schema:\n` + migrations.map((name) => line`  ${name}\n`).join(''))
  }
  return EXIT.done
}

/** Copies the rows of the service from its folder to PostgreSQL, or back. */
export async function copyRows(input: CommandInput): Promise<ExitCode> {
  const { io, json, args } = input
  const [folder, database] = [serviceFolder(input), readDatabase(input)]
  const to = args[0]
  if (to !== 'postgres' && to !== 'folder') {
    throw new QuorateError('cli/usage', `expected \`postgres\` or \`folder\`, got \`${to}\``, {
      next: 'say where the rows are to go',
    })
  }
  if (!database) {
    throw new QuorateError('cli/usage', 'expected DATABASE_URL to name the PostgreSQL that rows go to or come from', {
      next: 'set DATABASE_URL; the folder is named by --folder',
    })
  }
  const copied = await copyStore(folder, database, { to, now: Date.now() })
  if (json) writeJson(io, { to, ...copied })
  else {
    const [from, where] = to === 'postgres' ? [folder, renderDatabase(database)] : [renderDatabase(database), folder]
    io.out(
      line`Copied ${copied.rows} rows of ${copied.tables} tables from ${from} to ${where}.\n  digest  ${copied.digest}\n`,
    )
    io.say(
      to === 'postgres'
        ? line`${folder} is as it was. To serve from PostgreSQL, move \`quorate.db\` out of it; \`master.key\` stays.\n`
        : line`The rows in PostgreSQL are as they were. To serve from ${folder}, unset DATABASE_URL.\n`,
    )
  }
  return EXIT.done
}
