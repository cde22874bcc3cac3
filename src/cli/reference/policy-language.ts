import { languageTables, showType } from '../../policy/index.ts'
import { readings } from '../../policy/readings.ts'
import { activities, activityKinds } from '../../protocol/index.ts'
import { cell } from './cell.ts'

const { roots, structs, operators, methods, functions, params, limits } = languageTables

/** Renders the reference of the policy language, `docs/policy-language.md`. */
export function renderPolicyLanguage(): string {
  return `# The policy language

Generated from the tables of the language by \`npm run generate\`. Each row is what the checker and the evaluator read.

A policy has an effect, ALLOW or DENY, and up to three expressions, each of which must come to true or false:

| field | says | starts from |
|---|---|---|
${(['consensus', 'condition', 'time'] as const)
  .map((field) => `| \`${field}\` | ${fieldMeanings[field]} | ${rootsOf(field)} |`)
  .join('\n')}

A field that is left out holds. Nothing stops early: both sides of \`&&\` and \`||\` and every element of a list are
evaluated, and an error on any of them is the result. A policy that errs takes no part in the decision, also when it is a
DENY. Reading what a request does not have is an error, not \`false\`.

## Grammar

\`\`\`ebnf
${grammar}
\`\`\`

Blanks and line breaks separate tokens; there are no comments, no escapes and no arithmetic. A text stands in single quotes
and cannot contain one. \`in\`, \`true\` and \`false\` name nothing.

## Types

| type | values |
|---|---|
| bool | \`true\`, \`false\` |
| int | -2^127 to 2^127-1 |
| uint | 0 to 2^256-1 |
| number | compares with whole numbers, and with texts by its decimal form |
| string | text; of hex text and addresses letter case does not count |
| timestamp | a point in time |
| list&lt;T&gt; | elements of one type |
| map&lt;string, T&gt; | read with \`x['key']\` |
| decoded value | a text, number, list or map that is known only at evaluation |

Nothing is converted: \`'1' == 1\` is refused.

## Operators

Tightest first: \`.field\` \`.method(…)\` \`[i]\` \`[a..b]\`, then \`!\`, then comparisons, then \`&&\`, then \`||\`. Comparisons do
not chain.

| operator | takes and gives | meaning |
|---|---|---|
${Object.entries(operators)
  .map(([symbol, { signature, doc }]) => row(`\`${symbol}\``, typeName(signature), doc))
  .join('\n')}
${row('`x[i]`', typeName('(list<T>, int) → T, (string, int) → string'), 'the element or character at a position from 0; outside of it an error')}
${row('`x[a..b]`', '(T, int, int) → T', 'elements or characters from `a` up to and without `b`; what lies past the end is left out')}
${row("`x['key']`", typeName('(map<string, T>, string) → T'), 'the value of a key; a missing one is an error')}

## Methods of lists

| method | takes and gives | meaning |
|---|---|---|
${Object.entries(methods)
  .map(([name, { arguments: args, signature, doc }]) => row(`\`.${name}${args}\``, typeName(signature), doc))
  .join('\n')}

## Functions

They stand in \`time\` alone, and take texts in quotes.

| function | takes and gives | meaning |
|---|---|---|
${Object.entries(functions)
  .map(([name, { arguments: args, signature, doc }]) => row(`\`${name}${args}\``, typeName(signature), doc))
  .join('\n')}

## Roots

| root | in | type | defined for |
|---|---|---|---|
${Object.entries(roots)
  .map(([name, { field, type, doc }]) => row(`\`${name}\``, `\`${field}\``, typeName(showType(type)), doc))
  .join('\n')}

## Fields

${Object.entries(structs)
  .map(
    ([name, { doc, fields }]) => `### ${name}

${doc[0]!.toUpperCase()}${doc.slice(1)}.

| field | type | meaning | when absent |
|---|---|---|---|
${fields
  .map((one) =>
    row(
      `\`${one.name}\``,
      typeName(showType(one.type)),
      one.doc,
      one.absent === undefined ? 'an error' : `\`${show(one.absent)}\``,
    ),
  )
  .join('\n')}`,
  )
  .join('\n\n')}

## Parameters of activities

These alone can be read under \`activity.params\`.

| activity | parameters |
|---|---|
${Object.entries(params)
  .map(([type, names]) => row(`\`${type}\``, names.map((name) => `\`${name}\``).join(', ')))
  .join('\n')}

## Kinds of activities

| \`activity.kind\` | \`activity.resource\` | \`activity.action\` |
|---|---|---|
${activityKinds.map(kindRow).join('\n')}

## Limits

An expression has at most ${limits.expressionBytes} bytes and ${limits.depth} levels, and one evaluation takes at most ${limits.steps} steps:
the nodes that are visited, once for each element where lists are walked, and the texts that are read, four characters a step.
A policy that takes more is an error and takes no part in the decision. All evaluations of one request, over all policies,
calls and payloads, take at most ${limits.stepsOfRequest} steps together: a request that takes more is decided by no policy, as if none allowed it.

## Readings

Where the public documentation of the language is silent or contradicts itself, one reading is taken. Each has a label, and
one place in the code.

| label | reading |
|---|---|
${Object.entries(readings)
  .map(([label, { reading }]) => row(label, reading))
  .join('\n')}
`
}

const fieldMeanings = {
  consensus: 'who must have approved',
  condition: 'what it is about',
  time: 'when it is active',
} as const

const grammar = `expression = or ;
or         = and , { "||" , and } ;
and        = compare , { "&&" , compare } ;
compare    = unary , [ ( "==" | "!=" | "<" | ">" | "<=" | ">=" | "in" ) , unary ] ;
unary      = { "!" } , postfix ;
postfix    = primary , { "." , name | "." , method | "[" , expression , [ ".." , expression ] , "]" } ;
method     = ( "all" | "any" | "filter" ) , "(" , name , "," , expression , ")"
           | "contains" , "(" , expression , ")" | "count" , "(" , ")" ;
primary    = "true" | "false" | integer | string | list | struct | function | name | "(" , expression , ")" ;
list       = "[" , [ expression , { "," , expression } ] , "]" ;
struct     = "{" , name , ":" , expression , { "," , name , ":" , expression } , "}" ;
function   = ( "Timestamp" | "CronSpan" ) , "(" , string , { "," , string } , ")" ;
integer    = [ "-" ] , digit , { digit } ;
string     = "'" , { any character except "'" } , "'" ;
name       = ( letter | "_" ) , { letter | digit | "_" } ;`

function rootsOf(field: string): string {
  return Object.entries(roots)
    .filter(([, root]) => root.field === field)
    .map(([name]) => `\`${name}\``)
    .join(', ')
}

function kindRow(kind: string): string {
  const found = Object.values(activities).find((one) => one.kind === kind)
  return row(`\`${kind}\``, found?.resource ?? 'an error', found?.action ?? 'an error')
}

function row(...cells: readonly string[]): string {
  return `| ${cells.map(cell).join(' | ')} |`
}

function typeName(type: string): string {
  return type.replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function show(absent: unknown): string {
  if (typeof absent === 'string') return `'${absent}'`
  return typeof absent === 'bigint' ? String(absent) : JSON.stringify(absent)
}
