/** A plan as data for other programs: its published schema holds for plans, and the recipes of the docs say what they promise. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { forecast } from '../../src/analysis/index.ts'
import { makePlan, sealed, writePlan } from '../../src/plan/index.ts'
import { acme, bootstrap, declare, live } from './organization.ts'
import { planInput } from './planning.ts'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/plan-json.md'), 'utf8')
const schema = JSON.parse(readFileSync(join(root, 'src/plan/plan.schema.json'), 'utf8'))

const planText = (given: Parameters<typeof planInput>[0]) => {
  const input = planInput(given)
  return writePlan(sealed(forecast(makePlan(input).plan, input)))
}
const policy = (consensus: string) => ({ effect: 'allow', consensus, condition: "activity.kind == 'EXPORT_WALLET'" })
const changed = planText({
  desired: [declare('policy.ops', policy('true')), declare('tag.new'), declare('wallet.new')],
  manageAll: ['tag'],
  actual: [...bootstrap(), live('tag.old'), live('wallet.hot'), live('policy.ops', policy('false'))],
  allow: ['adoption', 'delete'],
})

describe('plan as data', () => {
  test('the published schema is one, and holds for plans', () => {
    const validate = new Ajv2020({ allowUnionTypes: true }).compile(schema)
    for (const text of [changed, planText({ desired: acme() }), planText({})]) {
      expect(validate(JSON.parse(text)), JSON.stringify(validate.errors)).toBe(true)
    }
    expect(validate({ ...JSON.parse(changed), digest: undefined })).toBe(false)
  })

  test('every member that the page names is one of the schema', () => {
    const rows = [...page.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell]) => cell!.match(/[a-zA-Z[\].]+/g)!)
    expect(rows.length).toBeGreaterThan(10)
    const members = rows.map((name) => name.split('[]')[0]!)
    expect(members.filter((name) => !Object.hasOwn(schema.properties, name))).toEqual([])
  })

  test.skipIf(spawnSync('jq', ['--version']).status !== 0)('the recipes for jq answer', () => {
    const recipes = [...page.matchAll(/^```jq\n(.*?)^```$/gms)].map(([, recipe]) => recipe!)
    const answers = recipes.map((recipe) => {
      const { stdout, stderr } = spawnSync('jq', ['-c', recipe], { input: changed, encoding: 'utf8' })
      expect(stderr, recipe).toBe('')
      return JSON.parse(stdout)
    })
    const [deleted, , quorum, gained, texts] = answers
    expect(deleted).toEqual(['tag.old'])
    expect(quorum).toBe(false)
    expect(gained).toContainEqual({ power: 'export', wallet: 'wallet.new' })
    expect(texts).toContainEqual({ policy: 'policy.ops', field: 'consensus', before: 'false', after: 'true' })
  })
})
