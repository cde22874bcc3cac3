/**
 * Makes the service of this process fail where a real one fails once in years: once SIGUSR2 has armed it,
 * it dies at a point inside a submit, or it answers before it has committed, which no test of durability may let pass.
 * The product has no such points: the statements and answers that it makes are watched from outside.
 */
import { ServerResponse } from 'node:http'
import { DatabaseSync, type StatementSync } from 'node:sqlite'

export const FAIL_POINTS = ['after-execute', 'before-commit', 'after-commit', 'before-reply'] as const
export type FailPoint = (typeof FAIL_POINTS)[number]
export type Tampering = FailPoint | 'late-commit'

const LATE_MS = 200

export function tamper(how: Tampering): void {
  let armed = false
  process.on('SIGUSR2', () => {
    armed = true
  })
  const die = () => process.kill(process.pid, 'SIGKILL')
  let late: NodeJS.Timeout | undefined
  /** Whether a transaction is under way: a long one gives others a turn in between, the timer of the late commit among them. */
  let isOpen = false
  const commitLate = (statement: () => unknown) => {
    late = setTimeout(() => {
      if (isOpen) return commitLate(statement)
      late = undefined
      statement()
    }, LATE_MS)
  }

  /** The connections that are writing: what only reads ends with a commit as well. */
  const writing = new WeakSet<DatabaseSync>()

  /** What runs instead of a statement. */
  const run = (sql: string, connection: DatabaseSync, statement: () => unknown): unknown => {
    const commits = sql === 'commit' && writing.delete(connection)
    if (how === 'late-commit') {
      // One transaction goes on under many requests, each of which is answered as if it were on disk.
      if (sql === 'begin immediate') {
        isOpen = true
        if (late) return []
      }
      if (commits) {
        isOpen = false
        if (!late) commitLate(statement)
        return []
      }
    }
    if (commits && how === 'before-commit') die()
    const result = statement()
    if (commits && how === 'after-commit') die()
    // What came of an activity is written once it was carried out.
    if (/^(?:insert into|update) "activities"/.test(sql) && how === 'after-execute') die()
    return result
  }

  const { prepare } = DatabaseSync.prototype
  DatabaseSync.prototype.prepare = function (this: DatabaseSync, sql, ...rest) {
    const statement = prepare.call(this, sql, ...rest)
    const connection = this
    return new Proxy(statement, {
      get(target, name) {
        const member = Reflect.get(target, name, target) as unknown
        if (typeof member !== 'function') return member
        const call = (...given: unknown[]) => (member as (...given: unknown[]) => unknown).apply(target, given)
        return name === 'all' || name === 'run'
          ? (...given: unknown[]) => {
              if (sql === 'begin immediate') writing.add(connection)
              return armed ? run(sql, connection, () => call(...given)) : call(...given)
            }
          : call
      },
    }) as StatementSync
  }

  const { end } = ServerResponse.prototype
  ServerResponse.prototype.end = function (this: ServerResponse, ...given: unknown[]) {
    if (armed && how === 'before-reply' && this.req.url?.includes('/submit/')) die()
    return end.apply(this, given as Parameters<typeof end>)
  } as typeof end
}
