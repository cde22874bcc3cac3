import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** A digest over every row that a service keeps, but for some tables: it is the same when nothing was changed. */
export function stateDigest(dataDir: string, without: readonly string[] = []): string {
  const database = new DatabaseSync(join(dataDir, 'quorate.db'), { readOnly: true })
  try {
    const tables = database.prepare("select name from sqlite_schema where type = 'table' order by name").all()
    const hash = createHash('sha256')
    for (const { name } of tables) {
      if (without.includes(String(name))) continue
      const rows = database.prepare(`select * from "${String(name)}"`).all()
      const texts = rows.map((row) =>
        JSON.stringify(
          Object.values(row).map((value) => (ArrayBuffer.isView(value) ? [...(value as Uint8Array)] : value)),
        ),
      )
      hash.update(`${String(name)} ${texts.sort().join('\n')}\n`)
    }
    return hash.digest('hex')
  } finally {
    database.close()
  }
}
