import { inspect } from 'node:util'
import { expect } from 'vitest'
import { renderError, toErrorJson } from '../../src/diagnostics/index.ts'

/** The error of what must fail, after checking that nothing that can be said of it holds any of the secrets. */
export async function faultOf(attempt: Promise<unknown>, secrets: readonly string[]) {
  const error: unknown = await attempt.then(
    () => {
      throw new Error('expected a fault, got a result')
    },
    (reason: unknown) => reason,
  )
  const said = [
    renderError(error),
    JSON.stringify(error),
    inspect(error, { depth: 9, showHidden: true }),
    String(error),
  ]
  if (error instanceof Error) said.push(error.stack ?? '')
  for (const text of said) {
    for (const secret of secrets) expect(text.toLowerCase()).not.toContain(secret.slice(8, 40))
  }
  const { code, message, next } = toErrorJson(error)
  return { code, message, next }
}
