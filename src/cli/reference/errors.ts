import { applyCodes } from '../../../activities/index.ts'
import { clientCodes } from '../../client/index.ts'
import { configCodes } from '../../config/index.ts'
import { comparedCodes, codes as definitionsCodes } from '../../definitions/index.ts'
import type { CodeRow, Codes } from '../../diagnostics/index.ts'
import { codes as importCodes } from '../../import/index.ts'
import { codes as liveCodes } from '../../live/index.ts'
import { localCodes } from '../../local/index.ts'
import { codes as planCodes } from '../../plan/index.ts'
import { lintCodes, policyCodes } from '../../policy/index.ts'
import { codes as resourcesCodes } from '../../resources/index.ts'
import { codes as scenariosCodes } from '../../scenarios/index.ts'
import { SERVICE_CODES } from '../../service/index.ts'
import { sessionCodes } from '../../session/index.ts'
import { stampCodes } from '../../stamp/index.ts'
import { testingCodes } from '../../testing/index.ts'
import { workerCodes } from '../../worker/index.ts'
import { cliCodes } from '../codes.ts'
import { cell } from './cell.ts'

/** Every code that quorate may print, of every room. */
export const allCodes: Codes = {
  ...cliCodes,
  ...configCodes,
  ...localCodes,
  ...sessionCodes,
  ...stampCodes,
  ...definitionsCodes,
  ...resourcesCodes,
  ...policyCodes,
  ...lintCodes,
  ...comparedCodes,
  ...scenariosCodes,
  ...clientCodes,
  ...liveCodes,
  ...importCodes,
  ...planCodes,
  ...applyCodes,
  ...workerCodes,
  ...SERVICE_CODES,
  ...testingCodes,
}

/** Renders the reference page of codes, `docs/errors.md`. */
export function renderErrorReference(): string {
  const rows = Object.entries<CodeRow>(allCodes).sort(([a], [b]) => (a < b ? -1 : 1))
  const lines = rows.map(([code, { summary, solve, exit = 1, retryable }]) => {
    return `| \`${code}\` | ${cell(summary)} | ${cell(solve)} | ${exit} | ${retryable ? 'yes' : ''} |`
  })
  return `# Errors

Generated from the code tables of all rooms by \`npm run generate\`. A code is stable; a message may be reworded.
\`quorate help CODE\` prints its row of this page.

| code | what it means | how to solve it | exit code | may pass by itself |
|---|---|---|---|---|
${lines.join('\n')}
`
}
