/**
 * Which published client signs people up and logs them in by which flow. What works is tried here; what does not says why. The
 * table of the documentation is made from this one.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browserPath } from '../browser.ts'
import { core } from './flows/core.ts'
import { noFrames } from './flows/frames.ts'
import { carryWallet, iframeStamper } from './flows/iframe-stamper.ts'
import { sdkBrowser } from './flows/sdk-browser.ts'
import { sdkServer } from './flows/sdk-server.ts'
import { type Cell, FLOWS, type FlowStage, type Flows, startFlowStage } from './flows/stage.ts'
import { recordOperations } from './operations.ts'

let stage: FlowStage
beforeAll(async () => {
  stage = await startFlowStage()
})
afterAll(() => stage?.close())

const shown = { shownBy: 'languages.long.ts' }
const languages: Flows = {
  'passkey sign-up': { no: 'no authenticator' },
  'passkey login': { no: 'no authenticator' },
  'e-mail code': shown,
  'SMS code': shown,
  OAuth: shown,
  wallet: { no: 'no wallet' },
  MFA: shown,
  refresh: shown,
  sign: shown,
  'log out': shown,
}

const notWritten = { no: 'not tried' }

const noBrowser = browserPath ? undefined : 'no Chromium'
const noFrame = noBrowser ?? noFrames
const clients: Record<string, { readonly flows: Flows; readonly skipped?: string | undefined }> = {
  '`@turnkey/core` 2.8 in Chromium': { flows: core, skipped: noBrowser },
  '`@turnkey/sdk-server` 8.2': { flows: sdkServer },
  '`@turnkey/sdk-browser` 8.2 in Chromium': { flows: sdkBrowser, skipped: noBrowser },
  '`@turnkey/iframe-stamper` 2.11 in Chromium': { flows: iframeStamper, skipped: noFrame },
  Python: { flows: languages },
  Rust: { flows: languages },
  Go: { flows: Object.fromEntries(FLOWS.map((flow) => [flow, notWritten])) as unknown as Flows },
}

describe('logins by published clients', () => {
  for (const [client, { flows, skipped }] of Object.entries(clients)) {
    const why = skipped === undefined ? '' : ` (skipped: ${skipped})`
    for (const flow of FLOWS) {
      const cell = flows[flow]
      if (typeof cell !== 'function') continue
      test.skipIf(skipped !== undefined)(`${client}: ${flow}${why}`, () => cell(stage))
    }
  }

  test.skipIf(noFrame !== undefined)(
    `\`@turnkey/iframe-stamper\`: a wallet leaves by one frame and comes back by another${noFrame === undefined ? '' : ` (skipped: ${noFrame})`}`,
    () => carryWallet(stage),
  )

  test('the table of the documentation says what is tried here', () => {
    const said = (cell: Cell) => (typeof cell === 'object' && 'no' in cell ? cell.no : 'yes')
    const rows = Object.entries(clients).map(([name, { flows }]) => [name, ...FLOWS.map((flow) => said(flows[flow]))])
    const lines = [['client', ...FLOWS], ['', ...FLOWS].map(() => '---'), ...rows].map(
      (row) => `| ${row.join(' | ')} |`,
    )
    const page = readFileSync(join(import.meta.dirname, '../../docs/clients.md'), 'utf8')
    const table = page.split('\n\n').find((part) => part.startsWith(`| client | ${FLOWS[0]}`))
    expect(table).toBe(lines.join('\n'))
  })
})

recordOperations('logins', { skip: noFrame !== undefined })
