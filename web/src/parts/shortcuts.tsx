import { Kbd, Modal, Table } from "@mantine/core";

const keys: [string[], string][] = [
  [["Enter"], "Send the message"],
  [["Shift", "Enter"], "New line"],
  [["Esc"], "Stop the answer, or close what is open"],
  [["/"], "Search conversations"],
  [["n"], "New conversation"],
  [["g"], "All media"],
  [["m"], "Write a message"],
  [["i"], "What an open picture is made of"],
  [["e"], "Edit an open picture"],
  [["v"], "Vary it"],
  [["r"], "Generate it again"],
  [["c"], "Compare it with another one"],
  [["+", "-"], "Zoom; the wheel and two fingers do as well"],
  [["←", "→"], "The picture before, the next one"],
  [["?"], "This list"],
];

export function Shortcuts({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="Keyboard shortcuts" centered>
      <Table verticalSpacing={7}>
        <Table.Tbody>
          {keys.map(([combo, does]) => (
            <Table.Tr key={does}>
              <Table.Td w={140}>{combo.map((k) => <Kbd key={k} mr={4}>{k}</Kbd>)}</Table.Td>
              <Table.Td>{does}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  );
}
