import { describe, expect, test } from 'vitest'
import { Editor, type Range } from './client.ts'

const people = `organization: acme
tags: { treasury: {}, operations: {} }
users:
  alice: { email: alice@acme.test, tags: [treasury] }
  bob: { email: bob@acme.test, tags: [operations] }
wallets:
  reserves: { accounts: [] }
`

function policies(condition: string, consensus = "approvers.any(user, user.tags.contains('${tag.treasury}'))"): string {
  return `policies:\n  sign:\n    effect: allow\n    consensus: ${consensus}\n    condition: ${condition}\n`
}

const fine = policies("activity.kind == 'SIGN_TRANSACTION' && wallet.id == '${wallet.reserves}'")
const open = () => Editor.open({ 'people.yaml': people, 'policies.yaml': fine })

interface Item {
  readonly label: string
  readonly detail?: string
  readonly textEdit?: { readonly range: Range; readonly newText: string }
}

describe('lsp', () => {
  test('lsp: shows mistakes and advice at their places, and that they are gone', async () => {
    const editor = await open()
    await editor.type('policies.yaml', policies("wallet.idd == 'a'"))
    const [mistake] = await editor.shows('policies.yaml', (shown) => shown.length > 0)
    expect(mistake).toMatchObject({
      code: 'policy/unknown-field',
      severity: 1,
      message: 'a Wallet has no field `idd`\nhelp: did you mean `id`?',
      range: { start: { line: 4, character: 22 }, end: { line: 4, character: 25 } },
    })
    await editor.type('policies.yaml', policies("eth.tx.to == '0xAB'"))
    await editor.shows('policies.yaml', (shown) => shown.some(({ code }) => code === 'lint/mixed-case-hex'))
    await editor.shows('people.yaml', (shown) => shown.some(({ code }) => code === 'lint/unused-tag'))
    await editor.type('policies.yaml', fine)
    await editor.shows('policies.yaml', (shown) => shown.length === 0)
    expect(await editor.leave()).toBe(0)
  })

  const completions: readonly {
    name: string
    text: string
    has: readonly string[]
    hasNot?: readonly string[]
  }[] = [
    {
      name: 'roots of the field',
      text: policies('‸'),
      has: ['activity', 'wallet', 'eth'],
      hasNot: ['approvers', 'time'],
    },
    { name: 'roots after an operator', text: policies('wallet.exported && ‸'), has: ['activity', 'wallet'] },
    { name: 'fields', text: policies('wallet.‸'), has: ['id', 'label', 'imported', 'exported'], hasNot: ['activity'] },
    { name: 'fields of fields, begun', text: policies('eth.tx.max‸'), has: ['max_fee_per_gas', 'value'] },
    {
      name: 'methods of a list',
      text: policies('solana.tx.transfers.‸'),
      has: ['any', 'all', 'filter', 'count', 'contains'],
    },
    {
      name: 'the variable of a predicate',
      text: policies('wallet.exported', 'approvers.any(user, ‸'),
      has: ['user', 'approvers'],
    },
    {
      name: 'fields of the variable of a predicate',
      text: policies('wallet.exported', 'approvers.any(user, user.‸)'),
      has: ['id', 'tags', 'email', 'alias'],
    },
    {
      name: 'kinds of activities',
      text: policies("activity.kind in ['CREATE_WALLET', '‸']"),
      has: ['SIGN_TRANSACTION', 'EXPORT_WALLET'],
      hasNot: ['WALLET', 'ACTIVITY_TYPE_CREATE_WALLET'],
    },
    { name: 'actions', text: policies("activity.action == '‸"), has: ['SIGN', 'EXPORT'], hasNot: ['SIGN_TRANSACTION'] },
    { name: 'kinds of names', text: policies("wallet.id == '${‸'"), has: ['wallet', 'tag', 'user', 'env', 'var'] },
    { name: 'names', text: policies("wallet.id == '${wallet.‸}'"), has: ['reserves'], hasNot: ['treasury'] },
    {
      name: 'names where their ids are compared',
      text: policies('wallet.exported', "approvers.any(user, user.tags.contains('‸'))"),
      has: ['${tag.treasury}', '${tag.operations}'],
      hasNot: ['${wallet.reserves}'],
    },
    {
      name: 'in a block',
      text: policies(">-\n      activity.action == 'SIGN'\n      && wallet.‸\n"),
      has: ['id', 'label'],
    },
    { name: 'nothing outside of an expression', text: fine.replace('sign:', 'sign‸:'), has: [], hasNot: ['activity'] },
  ]

  test('lsp: completes what may stand where the cursor is', async () => {
    const editor = await open()
    await editor.type('policies.yaml', fine)
    await editor.shows('people.yaml', (shown) => shown.length === 1)
    for (const { name, text, has, hasNot = [] } of completions) {
      const items = await editor.ask<readonly Item[]>('textDocument/completion', 'policies.yaml', text)
      const labels = items.map(({ label }) => label)
      expect(labels, name).toEqual(expect.arrayContaining([...has]))
      for (const label of hasNot) expect(labels, name).not.toContain(label)
      // What is chosen replaces the word that was begun, and stays on its line.
      for (const { textEdit } of items) expect(textEdit!.range.start.line, name).toBe(textEdit!.range.end.line)
    }
    const [field] = await editor.ask<readonly Item[]>(
      'textDocument/completion',
      'policies.yaml',
      policies('wallet.ex‸'),
    )
    expect(field!.textEdit!.range).toEqual({ start: { line: 4, character: 22 }, end: { line: 4, character: 24 } })
  })

  test('lsp: says the type and meaning of what is under the cursor', async () => {
    const editor = await open()
    const said = async (text: string) => {
      const found = await editor.ask<{ contents: { value: string } } | null>(
        'textDocument/hover',
        'policies.yaml',
        text,
      )
      return found?.contents.value
    }
    expect(await said(policies('eth.tx.val‸ue > 5'))).toBe('```\neth.tx.value: int\n```\namount in wei')
    expect(await said(policies('wal‸let.exported'))).toContain('wallet: Wallet')
    expect(await said(policies('solana.tx.transfers.an‸y(t, t.amount > 5)'))).toContain('any(variable, predicate)')
    expect(await said(policies('solana.tx.transfers.any(t, ‸t.amount > 5)'))).toContain('t: Transfer')
    expect(await said(policies(">-\n      wallet.exported\n      && eth.tx.t‸o == ''"))).toContain('receiver')
    expect(await said(fine.replace('effect', 'eff‸ect'))).toBeUndefined()
  })

  test('lsp: goes to the definition of a name', async () => {
    const editor = await open()
    await editor.type('policies.yaml', fine)
    await editor.shows('people.yaml', (shown) => shown.length === 1)
    const at = (text: string) =>
      editor.ask<{ uri: string; range: Range } | null>('textDocument/definition', 'policies.yaml', text)
    expect(await at(policies("wallet.id == '${wallet.re‸serves}'"))).toEqual({
      uri: editor.uri('people.yaml'),
      range: { start: { line: 6, character: 2 }, end: { line: 6, character: 10 } },
    })
    expect(await at(`${fine}users:\n  eve: { email: e@acme.test, tags: [treas‸ury] }\n`)).toMatchObject({
      uri: editor.uri('people.yaml'),
      range: { start: { line: 1, character: 8 } },
    })
    expect(await at(policies('wal‸let.exported'))).toBeNull()
  })

  test('lsp: formats by an edit of what changes alone', async () => {
    const editor = await open()
    await editor.type('policies.yaml', policies("wallet.id=='a'  # as it is"))
    expect(await editor.format('policies.yaml')).toEqual([
      { range: { start: { line: 4, character: 24 }, end: { line: 4, character: 26 } }, newText: ' == ' },
    ])
    await editor.type('policies.yaml', fine)
    expect(await editor.format('policies.yaml')).toEqual([])
  })

  test('lsp: a text that is no YAML, or cut anywhere, is answered all the same', async () => {
    const editor = await open()
    for (let end = 0; end <= fine.length; end += 7)
      await editor.ask('textDocument/completion', 'policies.yaml', `${fine.slice(0, end)}‸`)
    for (const text of ['policies: {‸', '\t‸', '‸', "policies: { a: { condition: '‸", 'policies: [‸]'])
      for (const method of ['completion', 'hover', 'definition'])
        await editor.ask(`textDocument/${method}`, 'policies.yaml', text)
    expect(await editor.leave()).toBe(0)
  })
})
