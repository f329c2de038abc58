// Prints one declaration of a public name for the reference: types in full, functions and classes without their bodies.
import {
  type ClassElement,
  isBindingPattern,
  isClassDeclaration,
  isConstructorDeclaration,
  isExpressionWithTypeArguments,
  isFunctionDeclaration,
  isIdentifier,
  isMethodDeclaration,
  isPropertyDeclaration,
  isTypeAliasDeclaration,
  isTypeQueryNode,
  isTypeReferenceNode,
  isVariableDeclaration,
  ModifierFlags,
  type Node,
  type ParameterDeclaration,
  SyntaxKind,
  type TypeAliasDeclaration,
} from 'typescript/unstable/ast'
import {
  type Checker,
  NodeBuilderFlags,
  ObjectFlags,
  type Project,
  type Symbol as Sym,
  SymbolFlags,
  type Type,
  TypeFlags,
} from 'typescript/unstable/sync'

/** A type that a declaration mentions, and its position. */
type Mention = { readonly symbol: Sym; readonly at: Node }

export type Declaration = {
  /** The types of this project that it mentions. */
  readonly uses: readonly Sym[]
  /** Names of the language, of Node or of an SDK that it mentions. */
  readonly foreign: readonly string[]
  /** TypeScript, with every mentioned type under the name that `nameOf` gives it. */
  readonly code: (nameOf: (symbol: Sym) => string) => string
}

export function originalOf(symbol: Sym, checker: Checker): Sym {
  return symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
}

export function declarationOf(symbol: Sym, project: Project, isOurs: (path: string) => boolean): Declaration {
  const all = symbol.declarations.flatMap((handle) => handle.resolve(project) ?? [])
  const overloads = all.filter((node) => isFunctionDeclaration(node) && !node.body)
  const nodes = overloads.length > 0 ? overloads : all.slice(0, 1)
  const mentions = nodes.filter((node) => !isMapped(node)).flatMap((node) => mentionsIn(node, project.checker))
  const isOwn = ({ symbol: one }: Mention) => one.declarations.some(({ path }) => isOurs(path))
  return {
    uses: mentions.filter(isOwn).map((mention) => mention.symbol),
    foreign: mentions.filter((mention) => !isOwn(mention)).map(({ at }) => at.getText().replace(/\..*/, '')),
    code: (nameOf) => {
      const text = textWith(mentions.filter(isOwn), nameOf)
      return nodes.map((node) => printed(node, { symbol, checker: project.checker, text, nameOf })).join('\n')
    },
  }
}

/** Bodies and default values are not part of a signature. Type parameters need no definition. */
function mentionsIn(root: Node, checker: Checker): readonly Mention[] {
  const names: Node[] = []
  const visit = (node: Node): void => {
    if (isTypeReferenceNode(node)) names.push(node.typeName)
    else if (isExpressionWithTypeArguments(node)) names.push(node.expression)
    const skipped = 'body' in node ? node.body : 'initializer' in node ? node.initializer : undefined
    node.forEachChild((child) => {
      if (child !== skipped && !isPrivate(child)) visit(child)
    })
  }
  visit(root)
  return names.flatMap((at) => {
    const found = checker.getSymbolAtLocation(at)
    if (!found) throw new Error(`Nothing is known about ${at.getText()} in ${at.getSourceFile().fileName}.`)
    const symbol = originalOf(found, checker)
    return symbol.flags & SymbolFlags.TypeParameter ? [] : [{ symbol, at }]
  })
}

/** An object type that is computed from a constant: `Given<typeof table>`. */
function isMapped(node: Node): node is TypeAliasDeclaration {
  return isTypeAliasDeclaration(node) && isTypeReferenceNode(node.type) && isComputed(node)
}

/** From a constant of this project: `(typeof kinds)[number]`. */
function isComputed(node: Node): boolean {
  let found = false
  node.forEachChild((child) => {
    found ||= isTypeQueryNode(child) ? isIdentifier(child.exprName) : isComputed(child)
  })
  return found
}

function isPrivate(node: Node): boolean {
  const modifiers = 'modifierFlags' in node ? (node.modifierFlags as number) : 0
  return (modifiers & ModifierFlags.Private) !== 0
}

/** The source of a node, with other names for the types in it. */
function textWith(mentions: readonly Mention[], nameOf: (symbol: Sym) => string) {
  return (node: Node | undefined): string => {
    if (!node) return ''
    const start = node.getStart()
    let text = node.getText()
    for (const { at, symbol } of mentions.toReversed()) {
      if (at.getSourceFile() !== node.getSourceFile() || !isIdentifier(at)) continue
      const from = at.getStart() - start
      if (from < 0 || at.getEnd() > node.getEnd()) continue
      text = text.slice(0, from) + nameOf(symbol) + text.slice(from + at.getText().length)
    }
    return text
  }
}

type Printing = {
  readonly symbol: Sym
  readonly checker: Checker
  readonly text: (node: Node | undefined) => string
  readonly nameOf: (symbol: Sym) => string
}

function printed(node: Node, { symbol, checker, text, nameOf }: Printing): string {
  const name = nameOf(symbol)
  if (isFunctionDeclaration(node)) {
    const types = node.typeParameters?.length ? `<${node.typeParameters.map(text).join(', ')}>` : ''
    return `function ${name}${types}${signature(node.parameters, text)}: ${text(node.type)}`
  }
  if (isVariableDeclaration(node)) {
    const type = checker.getTypeOfSymbol(symbol)
    return `const ${name}: ${node.type ? text(node.type) : type ? checker.typeToString(type) : 'unknown'}`
  }
  if (isClassDeclaration(node)) {
    const members = node.members.filter((member) => !isPrivate(member)).flatMap((member) => memberOf(member, text))
    const heritage = node.heritageClauses?.map(text).join(' ') ?? ''
    return [`class ${name} ${heritage} {`, ...members.map((member) => `  ${member}`), '}'].join('\n')
  }
  if (isMapped(node)) return `type ${name} = ${membersOf(checker.getDeclaredTypeOfSymbol(symbol), checker)}`
  // A type that is computed from a constant is meaningless without the constant.
  if (isTypeAliasDeclaration(node) && isComputed(node)) {
    const flags = NodeBuilderFlags.NoTruncation | NodeBuilderFlags.InTypeAlias
    const type = checker.typeToString(checker.getDeclaredTypeOfSymbol(symbol), node, flags)
    return `type ${name} = ${onLines(type.replaceAll('"', "'"))}`
  }
  return text(node).replace(/^export /, '')
}

/** Every member with its comment, groups of members included. */
function membersOf(type: Type, checker: Checker, indent = '  '): string {
  const lines = checker.getPropertiesOfType(type).flatMap((member) => {
    // A link in code becomes a name.
    const comment = checker
      .getDocumentationCommentOfSymbol(member)
      .trim()
      .replaceAll(/\s+/g, ' ')
      .replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1')
    const own = checker.getTypeOfSymbol(member)
    const parts = (own?.isUnionType() ? own.getTypes() : [own]).flatMap((part) => {
      if (!part || part.flags & TypeFlags.Undefined) return []
      const isGroup = part.isObjectType() && (part.objectFlags & ObjectFlags.Mapped) !== 0
      return [isGroup ? membersOf(part, checker, `${indent}  `) : checker.typeToString(part).replaceAll('"', "'")]
    })
    const text = parts.join(' | ').replace('false | true', 'boolean')
    const mark = member.flags & SymbolFlags.Optional ? '?' : ''
    return [
      ...(comment === '' ? [] : [`${indent}/** ${comment} */`]),
      `${indent}readonly ${member.name}${mark}: ${text}`,
    ]
  })
  return ['{', ...lines, `${indent.slice(2)}}`].join('\n')
}

/** An object gets a line for each member, a long union a line for each case. */
function onLines(type: string): string {
  if (/^\{ .* \}$/.test(type)) return `{\n  ${type.slice(2, -3).replaceAll('; ', '\n  ')}\n}`
  return type.length <= 90 || type.includes('(') ? type : `\n  | ${type.replaceAll(' | ', '\n  | ')}`
}

function memberOf(member: ClassElement, text: Printing['text']): readonly string[] {
  if (isConstructorDeclaration(member)) return [`constructor${signature(member.parameters, text)}`]
  if (isMethodDeclaration(member))
    return [`${text(member.name)}${signature(member.parameters, text)}: ${text(member.type)}`]
  if (!isPropertyDeclaration(member) || !member.type) return []
  return [
    `readonly ${text(member.name)}${member.postfixToken?.kind === SyntaxKind.QuestionToken ? '?' : ''}: ${text(member.type)}`,
  ]
}

/** A parameter with a default value is optional, and a destructured one is called `options`. */
function signature(parameters: readonly ParameterDeclaration[], text: Printing['text']): string {
  const each = parameters.map(({ name, dotDotDotToken, questionToken, initializer, type }) => {
    const isOptional = questionToken !== undefined || initializer !== undefined
    return `${dotDotDotToken ? '...' : ''}${isBindingPattern(name) ? 'options' : text(name)}${isOptional ? '?' : ''}: ${text(type)}`
  })
  const line = each.join(', ')
  return line.length <= 80 ? `(${line})` : `(\n${each.map((one) => `  ${one},\n`).join('')})`
}
