import Foundation

/// JSON as a value, for scripts and vectors.
enum JSON: Codable, Hashable, Sendable {
    case object([String: JSON])
    case array([JSON])
    case string(String)
    case int(Int64)
    case double(Double)
    case bool(Bool)
    case null

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let int = try? value.decode(Int64.self) {
            self = .int(int)
        } else if let double = try? value.decode(Double.self) {
            self = .double(double)
        } else if let string = try? value.decode(String.self) {
            self = .string(string)
        } else if let array = try? value.decode([JSON].self) {
            self = .array(array)
        } else {
            self = .object(try value.decode([String: JSON].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .object(let object): try value.encode(object)
        case .array(let array): try value.encode(array)
        case .string(let string): try value.encode(string)
        case .int(let int): try value.encode(int)
        case .double(let double): try value.encode(double)
        case .bool(let bool): try value.encode(bool)
        case .null: try value.encodeNil()
        }
    }

    static func parse(_ text: String) throws -> JSON {
        try JSONDecoder().decode(JSON.self, from: Data(text.utf8))
    }

    static func read(_ url: URL) throws -> JSON {
        try JSONDecoder().decode(JSON.self, from: Data(contentsOf: url))
    }

    static func of(_ string: String?) -> JSON { string.map(JSON.string) ?? .null }

    var encoded: String {
        (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    subscript(name: String) -> JSON? {
        if case .object(let object) = self, let value = object[name], value != .null {
            value
        } else {
            nil
        }
    }

    var text: String? { if case .string(let string) = self { string } else { nil } }

    var int: Int64? { if case .int(let int) = self { int } else { nil } }

    var double: Double? {
        switch self {
        case .double(let double): double
        case .int(let int): Double(int)
        default: nil
        }
    }

    var flag: Bool { self == .bool(true) }

    var list: [JSON] { if case .array(let array) = self { array } else { [] } }

    var keys: [String] { if case .object(let object) = self { Array(object.keys) } else { [] } }
}

/// The name in EVENTS.md of a case of a generated enum.
func wire(_ value: some Any) -> String {
    let name = String(describing: value).prefix { $0 != "(" }
    return name.reduce(into: "") { $0 += $1.isUppercase ? "_" + $1.lowercased() : String($1) }
}
