import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { JsonObject } from '../../protocol/index.ts'
import { sendJson } from './answer.ts'

/** A schema of the description, as far as a page shows it. */
interface Shown {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly description?: string
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Shown>>
  readonly items?: Shown
  readonly oneOf?: readonly Shown[]
  readonly anyOf?: readonly Shown[]
  readonly format?: string
}

interface Operation {
  readonly operationId?: string
  readonly summary?: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Shown }>> }
  readonly responses: Readonly<Record<string, { readonly description: string }>>
}

interface Description {
  readonly info: { readonly title: string; readonly description?: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Shown>> }
}

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}' +
  'code{font:.9em ui-monospace,monospace}summary{cursor:pointer}table{border-collapse:collapse;margin:.5rem 0}' +
  'td,th{border:1px solid #ddd;padding:.2rem .6rem;text-align:left;vertical-align:top}details{margin:.3rem 0}'
const POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'`

/**
 * Serves what a server offers in OpenAPI's form at `/openapi.json`, and for people at `/openapi.html`: a page without scripts, which
 * asks for nothing else.
 */
export function addDescription(server: FastifyInstance, describe: () => JsonObject): void {
  let document: JsonObject | undefined
  let page: string | undefined
  const described = () => (document ??= describe())
  server.get('/openapi.json', (_request, reply) => sendJson(reply, 200, described()))
  server.get('/openapi.html', (_request, reply) => {
    page ??= renderPage(described() as unknown as Description)
    return reply
      .code(200)
      .headers({ 'content-type': 'text/html; charset=utf-8', 'content-security-policy': POLICY })
      .send(page)
  })
}

function renderPage({ info, paths, components }: Description): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  const groups = Map.groupBy(operations, ({ operation }) => operation.tags?.[0] ?? 'other')
  const body = [...groups].map(
    ([tag, all]) => `<h2>${text(tag)}</h2>\n${all.map((one) => renderOperation(one, components.schemas)).join('\n')}`,
  )
  const schemas = Object.entries(components.schemas)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([name, schema]) =>
        `<details id="${text(name)}"><summary><code>${text(name)}</code></summary>${renderSchema(schema)}</details>`,
    )
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${text(info.title)}</title>
<style>${STYLE}</style></head><body><h1>${text(info.title)}</h1>
<p>${text(info.description ?? '')} The same for programs: <a href="openapi.json">openapi.json</a>.</p>
${body.join('\n')}
<h2>Forms</h2>
${schemas.join('\n')}
</body></html>
`
}

function renderOperation(
  { path, method, operation }: { readonly path: string; readonly method: string; readonly operation: Operation },
  schemas: Description['components']['schemas'],
): string {
  const asked = Object.values(operation.requestBody?.content ?? {})[0]?.schema
  const answers = Object.entries(operation.responses).map(
    ([status, { description }]) => `<tr><td>${text(status)}</td><td>${text(description)}</td></tr>`,
  )
  const said = [operation.summary, operation.description].filter((one) => one !== undefined)
  return `<details><summary><code>${text(`${method} ${path}`)}</code></summary>
${said.map((one) => `<p>${text(one!)}</p>`).join('')}${asked ? renderSchema(withoutRef(asked, schemas)) : ''}
<table><tr><th>answer</th><th></th></tr>${answers.join('')}</table></details>`
}

/** What a request is, in place of the name of its form: a reader wants its fields. */
function withoutRef(schema: Shown, schemas: Description['components']['schemas']): Shown {
  return schemas[nameOf(schema) ?? ''] ?? schema
}

function renderSchema(schema: Shown): string {
  const several = schema.oneOf ?? schema.anyOf
  if (several) return several.map(renderSchema).join('<p>or</p>')
  if (!schema.properties) return `<p>${renderType(schema)}</p>`
  const rows = Object.entries(schema.properties).map(([name, field]) => {
    const need = schema.required?.includes(name) ? 'required' : ''
    return `<tr><td><code>${text(name)}</code></td><td>${renderType(field)}</td><td>${need}</td><td>${text(field.description ?? '')}</td></tr>`
  })
  return `<table><tr><th>field</th><th>form</th><th></th><th></th></tr>${rows.join('')}</table>`
}

function renderType(schema: Shown): string {
  const name = nameOf(schema)
  if (name !== undefined) return `<a href="#${text(name)}"><code>${text(name)}</code></a>`
  if (schema.items) return `list of ${renderType(schema.items)}`
  if (schema.const !== undefined) return `<code>${text(String(schema.const))}</code>`
  if (schema.enum) return schema.enum.map((one) => `<code>${text(String(one))}</code>`).join(' or ')
  const several = schema.oneOf ?? schema.anyOf
  if (several) return several.map(renderType).join(' or ')
  return text([schema.type ?? 'any'].flat().join(' or ') + (schema.format === undefined ? '' : `, ${schema.format}`))
}

function nameOf({ $ref }: Shown): string | undefined {
  return $ref?.split('/').at(-1)
}

function text(raw: string): string {
  return raw.replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`)
}
