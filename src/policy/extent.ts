/**
 * The stretch of a text that shows a node whole. A node's own extent has no parentheses around it, and so ends inside of
 * those around its last operand: of `a && (b || c)` it would show `a && (b || c`. Widened by the brackets it cuts.
 */
export function wholeExtent(
  text: string,
  { start, end }: { readonly start: number; readonly end: number },
): { readonly start: number; readonly end: number } {
  let open = 0
  let unopened = 0
  let inText = false
  for (const c of text.slice(start, end)) {
    if (c === "'") inText = !inText
    else if (inText) continue
    else if (c === '(') open++
    else if (c === ')' && open > 0) open--
    else if (c === ')') unopened++
  }
  let from = start
  let to = end
  // Between a node and the parentheses around it there is white space alone, and more of them.
  for (; unopened > 0 && from > 0; ) if (text[--from] === '(') unopened--
  for (; open > 0 && to < text.length; ) if (text[to++] === ')') open--
  return { start: from, end: to }
}
