/** A plan as data for other programs: its published schema holds for plans, and the recipes of the docs say what they promise. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
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

/** A Python environment with an evaluator of Rego, which `.ci/run` makes. */
const python = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'quorate/regopy-1.5.2/bin/python')

/** What the recipe for OPA and conftest denies in a plan. */
function denials(plan: string): readonly string[] {
  const [, module] = /^```rego\n(.*?)^```$/ms.exec(page)!
  const input = JSON.stringify({ module, input: JSON.parse(plan), query: 'data.main.deny' })
  const { stdout, stderr } = spawnSync(python, [join(import.meta.dirname, 'rego/evaluate.py')], {
    input,
    encoding: 'utf8',
  })
  expect(stderr).toBe('')
  const [denied] = JSON.parse(stdout) as readonly string[][]
  return denied!.toSorted()
}

type Schema = Readonly<Record<string, unknown>>

/** What a member, or each element where it is `[]`, may be, through references and alternatives. */
function step(of: readonly Schema[], member: string): readonly Schema[] {
  return of.flatMap((one): readonly Schema[] => {
    const { $ref, properties, items, anyOf = [], oneOf = [], allOf = [] } = one
    const parts = [anyOf, oneOf, allOf].flat() as Schema[]
    const within =
      typeof $ref === 'string'
        ? [
            $ref
              .split('/')
              .slice(1)
              .reduce((at, key) => at[key] as Schema, schema as Schema),
          ]
        : parts
    const own = member === '[]' ? items : (properties as Schema | undefined)?.[member]
    return [...(own ? [own as Schema] : []), ...(within.length > 0 ? step(within, member) : [])]
  })
}

/** The paths that a text in Rego reads of `input`, such as `changes`, `[]`, `address`. */
function pathsOf(rego: string): readonly (readonly string[])[] {
  const paths: string[][] = []
  for (const rule of rego.split(/\n(?=\S.* if \{\n)/)) {
    const bound = new Map<string, readonly string[]>([['input', []]])
    for (const [, name, from] of rule.matchAll(/some (\w+) in ([\w.]+)/g)) {
      const [root, ...members] = from!.split('.')
      bound.set(name!, [...bound.get(root!)!, ...members, '[]'])
    }
    const reads = [
      ...[...rule.matchAll(/\b(\w+)((?:\.\w+)+)/g)].map(([, root, rest]) => [root!, ...rest!.split('.').slice(1)]),
      ...[...rule.matchAll(/object\.get\((\w+), "(\w+)"/g)].map(([, root, member]) => [root!, member!]),
    ]
    paths.push(...reads.flatMap(([root, ...members]) => (bound.has(root!) ? [[...bound.get(root!)!, ...members]] : [])))
  }
  return paths
}

/** What stands at a path of a document. */
function valuesAt(of: readonly unknown[], [member, ...rest]: readonly string[]): readonly unknown[] {
  if (member === undefined) return of
  const next = of.flatMap((one) => (member === '[]' ? (one as unknown[]) : [(one as Schema)[member]]))
  return valuesAt(
    next.filter((one) => one !== undefined),
    rest,
  )
}

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

  test('what the recipe for OPA and conftest reads is in the schema and in a plan', () => {
    const [, rego] = /^```rego\n(.*?)^```$/ms.exec(page)!
    const paths = pathsOf(rego!)
    expect(new Set(paths.map((path) => path.join('.'))).size).toBeGreaterThan(8)
    expect(paths.filter((path) => path.reduce(step, [schema as Schema]).length === 0)).toEqual([])
    const plan = JSON.parse(changed)
    expect(paths.filter((path) => valuesAt([plan], path).length === 0)).toEqual([])
  })

  test.skipIf(!existsSync(python))('the recipe for OPA and conftest denies what it says, and nothing else', () => {
    expect(denials(changed)).toEqual(['alice could export wallet.new alone', 'tag.old would be deleted'])
    const alone = { effect: 'allow', condition: "activity.kind == 'CREATE_TAG'" }
    expect(denials(planText({ desired: [declare('policy.ops', alone)] }))).toEqual([
      'policy.ops would ask nobody for approval',
    ])
    const narrowed = planText({
      desired: [declare('policy.ops', { ...alone, consensus: 'approvers.count() > 1' })],
      actual: [...bootstrap(), live('policy.ops', { ...alone, consensus: 'approvers.count() > 0' })],
      allow: ['adoption'],
    })
    expect(denials(narrowed)).toEqual([])
    // The same change with its consensus taken away, as a plan has a field that is emptied.
    const emptied = narrowed.replaceAll(/"after":\s*"approvers.count\(\) > 1"/g, '"after": null')
    expect(emptied).not.toBe(narrowed)
    expect(denials(emptied)).toEqual(['policy.ops would ask nobody for approval'])
    expect(denials(planText({ desired: acme() }))).toEqual([])
  })

  test('a field that a new policy does not have is not named, as the recipe has it', () => {
    const bare = JSON.parse(planText({ desired: [declare('policy.ops', { effect: 'allow', condition: 'true' })] }))
    expect(bare.changes).toMatchObject([{ action: 'create', kind: 'policy' }])
    expect(bare.changes[0].fields.map(({ field }: { field: string }) => field)).toEqual(['condition', 'effect', 'name'])
  })
})
