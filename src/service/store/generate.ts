/**
 * Writes `new-database.gen.ts` (`npm run generate`): the schema that the migrations lead to. A new database takes it as it is, in a
 * fifth of the time of all migrations one by one, each of which reads the whole schema again.
 */
import { writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { MIGRATIONS } from './migrations.ts'

/** Renders what the first migrations lead to. */
export function renderNewDatabase(steps: number): string {
  const statements = schemaAfter(steps).map((sql) => `  \`${sql.replaceAll(/[\\`$]/g, '\\$&')}\`,`)
  return [
    '// Generated from src/service/store/migrations by src/service/store/generate.ts. Do not edit.',
    '',
    '/** How many migrations, from the first, are in the schema below. */',
    `export const STEPS_OF_NEW = ${steps}`,
    '',
    'export const SCHEMA_OF_NEW: readonly string[] = [',
    ...statements,
    ']',
    '',
  ].join('\n')
}

/** The statements that make the schema, in an order in which they can be carried out. */
function schemaAfter(steps: number): readonly string[] {
  const database = new DatabaseSync(':memory:', { enableForeignKeyConstraints: false })
  try {
    for (const statement of MIGRATIONS.slice(0, steps).flatMap(({ statements }) => statements)) database.exec(statement)
    return database
      .prepare(
        "select sql from sqlite_schema where sql is not null and name not like 'sqlite\\_%' escape '\\' order by rowid",
      )
      .all()
      .map(({ sql }) => String(sql))
  } finally {
    database.close()
  }
}

if (import.meta.main) {
  writeFileSync(new URL('new-database.gen.ts', import.meta.url), renderNewDatabase(MIGRATIONS.length))
}
