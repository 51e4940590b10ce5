import { Kbd, Modal, Table } from "@mantine/core";

const keys: [string[], string][] = [
  [["Enter"], "Send the message"],
  [["Shift", "Enter"], "New line"],
  [["Esc"], "Stop the answer, or close what is open"],
  [["/"], "Search conversations"],
  [["n"], "New conversation"],
  [["g"], "Show all media"],
  [["m"], "Write a message"],
  [["i"], "Show how the open picture was made"],
  [["e"], "Edit the open picture"],
  [["v"], "Vary the open picture"],
  [["r"], "Generate the open picture again"],
  [["c"], "Compare the open picture with another one"],
  [["+", "-"], "Zoom in or out; the mouse wheel and pinching also zoom"],
  [["←", "→"], "Previous or next picture"],
  [["?"], "Show these shortcuts"],
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
