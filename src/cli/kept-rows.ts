/** Rows of JSON, one a line, that commands keep in files of the data folder for its owner alone. */
import { appendFileSync, chmodSync, existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { assertPlain, ensurePrivateFolder, readPrivate } from '../local/index.ts'

/** Adds a row, which is on disk when this returns. Throws where the file cannot be written. */
export function keepRow(path: string, row: object): void {
  ensurePrivateFolder(dirname(path))
  if (existsSync(path)) assertPlain(path)
  appendFileSync(path, `${JSON.stringify(row)}\n`, { mode: 0o600, flush: true })
  chmodSync(path, 0o600)
}

/** The rows that were kept, oldest first; none where there is no file. A line that was cut short, as by a full disk, is passed over. */
export function keptRows<Row>(path: string): readonly Row[] {
  return (readPrivate(path) ?? '').split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as Row]
    } catch {
      return []
    }
  })
}
