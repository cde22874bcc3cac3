/** Runs the jobs of a workflow as a runner does: each `run:` in order, in bash, with its environment and its condition. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

interface Step {
  readonly name?: string
  readonly id?: string
  readonly if?: string
  readonly uses?: string
  readonly with?: Readonly<Record<string, unknown>>
  readonly env?: Readonly<Record<string, string>>
  readonly run?: string
}

interface Job {
  readonly if: string
  readonly env: Readonly<Record<string, string>>
  readonly outputs?: Readonly<Record<string, string>>
  readonly permissions: Readonly<Record<string, string>>
  readonly steps: readonly Step[]
}

export interface Workflow {
  readonly on: {
    readonly workflow_call: {
      readonly inputs: Readonly<Record<string, { readonly default?: string; readonly required?: boolean }>>
      readonly secrets: Readonly<Record<string, unknown>>
    }
  }
  readonly permissions: Readonly<Record<string, string>>
  readonly env: Readonly<Record<string, string>>
  readonly defaults: { readonly run: { readonly shell: string } }
  readonly jobs: Readonly<Record<string, Job>>
}

export const workflowText = readFileSync(join(import.meta.dirname, '../../.github/workflows/quorate.yml'), 'utf8')
export const workflow = parse(workflowText) as Workflow

/** What `${{ … }}` can speak of. */
export interface Contexts {
  readonly github: Readonly<Record<string, unknown>>
  readonly inputs: Readonly<Record<string, string>>
  readonly secrets: Readonly<Record<string, string>>
}

export interface RanStep {
  readonly name: string
  readonly outcome: 'success' | 'failure' | 'skipped'
  readonly exit: number | null
  /** Both streams, as the log shows them. */
  readonly log: string
}

export interface RanJob {
  readonly skipped: boolean
  readonly success: boolean
  readonly steps: readonly RanStep[]
  readonly outputs: Readonly<Record<string, string>>
  readonly summary: string
  /** Files that would have been uploaded, by their name. */
  readonly artifacts: Readonly<Record<string, string>>
}

export interface Machine {
  /** The clone in which the steps run. */
  readonly workspace: string
  /** Where the runner's own files stand; every job gets one below it. */
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
}

/** Runs one job of the workflow. Actions (`uses:`) are the runner's business: an upload is recorded, the others do nothing. */
export async function runJob(name: string, given: Contexts, machine: Machine): Promise<RanJob> {
  const job = workflow.jobs[name]!
  const temp = mkdtempSync(join(machine.folder, `${name}-`))
  const defaults = Object.entries(workflow.on.workflow_call.inputs).map(([input, row]) => [input, row.default ?? ''])
  const inputs = { ...Object.fromEntries(defaults), ...given.inputs } as Record<string, string>
  const steps: Record<string, { outputs: Record<string, string>; outcome: string }> = {}
  const contexts = { ...given, inputs, steps, runner: { temp } }
  const summaryFile = join(temp, 'summary.md')
  const ran: RanStep[] = []
  const artifacts: Record<string, string> = {}
  let success = true
  const evaluate = (expression: string) => evaluateExpression(expression, contexts, { success })
  const fill = (text: string) => String(text).replace(/\$\{\{(.*?)\}\}/g, (_, inner: string) => String(evaluate(inner)))
  const fillAll = (rows: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(Object.entries(rows).map(([key, text]) => [key, fill(text)]))

  if (!evaluate(job.if)) return { skipped: true, success, steps: [], outputs: {}, summary: '', artifacts }
  for (const [at, step] of job.steps.entries()) {
    const label = step.name ?? step.uses ?? String(at)
    const wanted =
      step.if === undefined
        ? success
        : evaluate(/\b(always|failure)\(/.test(step.if) ? step.if : `success() && (${step.if})`)
    if (!wanted) {
      ran.push({ name: label, outcome: 'skipped', exit: null, log: '' })
      if (step.id) steps[step.id] = { outputs: {}, outcome: 'skipped' }
      continue
    }
    if (step.run === undefined) {
      if (step.uses!.includes('upload-artifact')) {
        for (const path of fill(String(step.with!['path'])).trim().split('\n')) {
          if (existsSync(path)) artifacts[path.slice(path.lastIndexOf('/') + 1)] = readFileSync(path, 'utf8')
        }
      }
      continue
    }
    const output = join(temp, `output-${at}`)
    writeFileSync(output, '')
    const script = join(temp, `step-${at}.sh`)
    // INVARIANT: a script is taken as it stands; an expression in it would be an injection, and is refused here.
    if (step.run.includes('${{')) throw new Error(`${label}: a script must not hold an expression`)
    writeFileSync(script, step.run)
    const { exit, log } = await bash(script, machine.workspace, {
      ...machine.env,
      ...fillAll(workflow.env),
      ...fillAll(job.env),
      ...fillAll(step.env),
      CI: 'true',
      GITHUB_ACTIONS: 'true',
      GITHUB_WORKSPACE: machine.workspace,
      GITHUB_REPOSITORY: String(given.github['repository']),
      GITHUB_API_URL: String(given.github['api_url']),
      GITHUB_SERVER_URL: 'https://github.test',
      GITHUB_OUTPUT: output,
      GITHUB_STEP_SUMMARY: summaryFile,
      RUNNER_TEMP: temp,
    })
    const outcome = exit === 0 ? 'success' : 'failure'
    if (exit !== 0) success = false
    if (step.id) steps[step.id] = { outputs: readOutputs(output), outcome }
    ran.push({ name: label, outcome, exit, log })
  }
  const outputs = fillAll(job.outputs)
  const summary = existsSync(summaryFile) ? readFileSync(summaryFile, 'utf8') : ''
  return { skipped: false, success, steps: ran, outputs, summary, artifacts }
}

/** As the runner does for `shell: bash`. */
function bash(script: string, cwd: string, env: Readonly<Record<string, string>>) {
  mkdirSync(cwd, { recursive: true })
  const child = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', script], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part) => {
      log += part
    })
  }
  return new Promise<{ exit: number | null; log: string }>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (exit) => resolve({ exit, log }))
  })
}

function readOutputs(file: string): Record<string, string> {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
}

/** The part of GitHub's expressions that the workflow uses: paths, texts, `==`, `!=`, `&&`, `||`, and what became of the job. */
function evaluateExpression(text: string, contexts: object, job: { readonly success: boolean }): unknown {
  const tokens = text.match(/'(?:[^']|'')*'|==|!=|&&|\|\||[()]|[\w.-]+|\S/g) ?? []
  const code = tokens.map((token) => {
    if (token.startsWith("'")) return JSON.stringify(token.slice(1, -1).replaceAll("''", "'"))
    if (/^[\w.-]+$/.test(token) && token.includes('.')) return JSON.stringify(lookUp(contexts, token.split('.')) ?? '')
    if (['always', 'success', 'failure'].includes(token)) return `job.${token}`
    if (['==', '!=', '&&', '||', '(', ')'].includes(token)) return token
    throw new Error(`this runner does not know \`${token}\` in \`${text}\``)
  })
  const functions = { always: () => true, success: () => job.success, failure: () => !job.success }
  return new Function('job', `return (${code.join(' ')})`)(functions)
}

function lookUp(value: unknown, path: readonly string[]): unknown {
  return path.reduce((at, name) => (at as Record<string, unknown> | undefined)?.[name], value)
}
